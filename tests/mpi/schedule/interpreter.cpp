#include "mpi/schedule/interpreter.hpp"

#include <algorithm>
#include <cstddef>

#include "plait/base/random.hpp"

namespace plait::test {
namespace {

class Interpreter {
 public:
  Interpreter(const Program& program, Word data_seed) : outcomes_(at(program.ranks)), parts_(at(program.ranks)) {
    for (int rank = 0; rank < program.ranks; ++rank) {
      Outcome& outcome = outcomes_[at(rank)];
      const auto& slots = program.stores[at(rank)].slots;
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        std::vector<Word> words(at(slots[slot].words));
        for (std::size_t i = 0; i < words.size(); ++i) {
          words[i] = initial_word(data_seed, rank, static_cast<int>(slot), static_cast<Index>(i));
        }
        outcome.defined.emplace_back(words.size(), true);
        outcome.slots.push_back(std::move(words));
      }
    }
  }

  void run(const Step& step, bool throws) {
    const int index = steps_++;
    std::vector<State> states;
    for (const Part& part : step.parts) states.push_back(before(part));
    switch (step.kind) {
      case Step::Kind::message: message(step, states); break;
      case Step::Kind::compute: compute(index, step, states, throws); break;
      case Step::Kind::reduce: reduce(step, states); break;
      case Step::Kind::collective: collective(step, states); break;
      case Step::Kind::flag: flag(step, states); break;
    }
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
      const Part& part = step.parts[p];
      parts_[at(part.rank)].push_back(states[p]);
      if (step.kind == Step::Kind::flag) continue;
      for (const Cells& cells : part.writes) mark(part.rank, cells, !states[p].failed && !states[p].spoiled);
    }
  }

  [[nodiscard]] std::vector<Outcome> result() && { return std::move(outcomes_); }

 private:
  struct State {
    bool failed = false;   // and the rank knows
    bool spoiled = false;  // a collective had a failed contribution, of which only its own rank knows
  };

  [[nodiscard]] State before(const Part& part) const {
    State state;
    for (const int number : part.after) {
      const State& other = parts_[at(part.rank)][at(number)];
      state.failed = state.failed || other.failed;
      state.spoiled = state.spoiled || other.spoiled;
    }
    return state;
  }

  std::span<Word> words(int rank, const Cells& cells) {
    return std::span(outcomes_[at(rank)].slots[at(cells.slot)]).subspan(at(cells.first), at(cells.count));
  }
  void mark(int rank, const Cells& cells, bool defined) {
    auto& flags = outcomes_[at(rank)].defined[at(cells.slot)];
    std::fill_n(flags.begin() + cells.first, cells.count, defined);
  }

  void message(const Step& step, std::vector<State>& states) {
    const Part& sender = step.parts[0];
    const Part& receiver = step.parts[1];
    const Cells& source = sender.reads[0];
    if (source.count == 0) return;  // does not travel
    auto& outcome = outcomes_[at(receiver.rank)];
    if (states[0].failed) {
      outcome.failed_peers.push_back(sender.rank);
      states[1].failed = true;
      return;
    }
    states[1].spoiled = states[1].spoiled || states[0].spoiled;
    const auto from = words(sender.rank, source);
    std::copy(from.begin(), from.end(), words(receiver.rank, receiver.writes[0]).begin());
    const PeerClass peer = sender.rank == receiver.rank ? PeerClass::self : PeerClass::node;
    const Traffic traffic{1, source.count * Index{sizeof(Word)}};
    outcomes_[at(sender.rank)].traffic.sent_to(peer) += traffic;
    outcome.traffic.received_from(peer) += traffic;
  }

  void compute(int index, const Step& step, std::vector<State>& states, bool throws) {
    const Part& part = step.parts[0];
    if (states[0].failed || step.sub_steps == 0) return;
    if (throws) {
      outcomes_[at(part.rank)].thrown.push_back(index);
      states[0].failed = true;
      return;
    }
    std::vector<std::span<const Word>> reads;
    for (const Cells& cells : part.reads) reads.emplace_back(words(part.rank, cells));
    for (Index sub_step = 0; sub_step < step.sub_steps; ++sub_step) {
      compute_words(step, sub_step, reads, words(part.rank, part.writes[0]));
    }
  }

  void reduce(const Step& step, std::vector<State>& states) {
    if (states[0].failed) return;
    const Part& part = step.parts[0];
    const auto in = words(part.rank, part.reads[0]);
    const auto inout = words(part.rank, part.writes[0]);
    const MPI_Op operation = reduction_of(step);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (operation == MPI_SUM) inout[i] += in[i];
      if (operation == MPI_BXOR) inout[i] ^= in[i];
      if (operation == MPI_MAX) inout[i] = std::max(inout[i], in[i]);
    }
  }

  void collective(const Step& step, std::vector<State>& states) {
    std::vector<Word> sum(at(step.parts[0].writes[0].count), 0);
    bool spoiled = false;
    for (std::size_t p = 0; p < states.size(); ++p) {
      spoiled = spoiled || states[p].failed || states[p].spoiled;
      const auto own = words(step.parts[p].rank, step.parts[p].writes[0]);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i];
    }
    for (std::size_t p = 0; p < states.size(); ++p) {
      states[p].spoiled = spoiled;
      std::copy(sum.begin(), sum.end(), words(step.parts[p].rank, step.parts[p].writes[0]).begin());
    }
  }

  void flag(const Step& step, std::vector<State>& states) {
    for (std::size_t p = 1; p < states.size(); ++p) {
      if (states[0].failed) outcomes_[at(step.parts[p].rank)].failed_peers.push_back(step.parts[0].rank);
      states[p].failed = states[p].failed || states[0].failed;
      states[p].spoiled = states[p].spoiled || states[0].spoiled;
    }
  }

  int steps_ = 0;
  std::vector<Outcome> outcomes_;
  std::vector<std::vector<State>> parts_;  // by rank and number
};

}  // namespace

Word initial_word(Word data_seed, int rank, int slot, Index index) {
  return random_bits(random_bits(data_seed, static_cast<Word>(rank) << 32 | static_cast<Word>(slot)),
                     static_cast<Word>(index));
}

void compute_words(const Step& step, Index sub_step, std::span<const std::span<const Word>> reads,
                   std::span<Word> writes) {
  const auto count = static_cast<Index>(writes.size());
  for (Index i = count * sub_step / step.sub_steps; i < count * (sub_step + 1) / step.sub_steps; ++i) {
    Word value = step.salt + static_cast<Word>(i);
    for (const auto words : reads) {
      if (!words.empty()) value = random_bits(value, words[at(i) % words.size()]);
    }
    writes[at(i)] = value;
  }
}

MPI_Op reduction_of(const Step& step) {
  switch (step.salt % 3) {
    case 0: return MPI_SUM;
    case 1: return MPI_BXOR;
    default: return MPI_MAX;
  }
}

std::vector<Outcome> interpret(const Program& program, Word data_seed, const std::vector<bool>& throws) {
  Interpreter interpreter(program, data_seed);
  for (std::size_t s = 0; s < program.steps.size(); ++s) interpreter.run(program.steps[s], throws[s]);
  return std::move(interpreter).result();
}

}  // namespace plait::test
