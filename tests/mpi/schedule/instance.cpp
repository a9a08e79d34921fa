#include "mpi/schedule/instance.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/error.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/schedule/compiled.hpp"

#include "support/random.hpp"

namespace plait::test {
namespace {

constexpr Index word_bytes = sizeof(Word);

std::span<const Word> const_words(const schedule::Run& run, schedule::Range range) {
  return {reinterpret_cast<const Word*>(run.address(range.slot, range.offset)), at(range.bytes / word_bytes)};
}
std::span<Word> words(const schedule::Run& run, schedule::Range range) {
  return {reinterpret_cast<Word*>(run.address(range.slot, range.offset)), at(range.bytes / word_bytes)};
}

bool is_accepted(const schedule::Graph& graph, int rank) {
  try {
    const schedule::Compiled compiled(graph, rank);
    return true;
  } catch (const ContractViolation&) {
    return false;
  }
}

}  // namespace

Instance::Instance(mpi::Context& context, const Program& program, schedule::Windows windows, std::string label)
    : context_(context), program_(program), label_(std::move(label)), own_parts_(own_parts()) {
  collectives_.emplace(mpi::Communicator::duplicate(context.comm().handle()));
  if (program.flags > 0) flags_.emplace(context, program.flags);
  schedule_.emplace(context, make_graph(fewest_blocks()), label_, windows);
  expected_traffic_ = context.counters()[label_];
  described_.emplace([this] { return schedule_->describe(); });
}

std::vector<Index> Instance::fewest_blocks() {
  const auto& store = program_.stores[at(context_.rank())];
  const auto most = std::max<Index>(1, static_cast<Index>(store.slots.size()));
  std::vector<Index> blocks(store.pools.size(), most);
#if PLAIT_ASSERT_LEVEL >= 1
  for (Index& count : blocks) {
    Index too_few = 0;
    while (too_few + 1 < count) {
      std::vector<Index> fewer = blocks;
      const Index middle = (too_few + count) / 2;
      fewer[at(&count - blocks.data())] = middle;
      (is_accepted(make_graph(fewer), context_.rank()) ? count : too_few) = middle;
    }
  }
#endif
  return blocks;
}

schedule::Range Instance::range(const Cells& cells) const {
  return {slots_[at(cells.slot)], cells.first * word_bytes, cells.count * word_bytes};
}

schedule::Graph Instance::make_graph(const std::vector<Index>& blocks) {
  schedule::Graph graph(program_.strands);
  const auto& store = program_.stores[at(context_.rank())];
  std::vector<schedule::PoolId> pools;
  for (std::size_t p = 0; p < blocks.size(); ++p) pools.push_back(graph.pool(store.pools[p] * word_bytes, blocks[p]));
  slots_.clear();
  for (const Program::Slot& slot : store.slots) {
    switch (slot.memory) {
      case Program::Memory::input: slots_.push_back(graph.input(slot.words * word_bytes)); break;
      case Program::Memory::output: slots_.push_back(graph.output(slot.words * word_bytes)); break;
      case Program::Memory::staging: slots_.push_back(graph.staging(pools[at(slot.pool)])); break;
    }
  }
  operations_.resize(own_parts_.size());
  for (const Own& own : own_parts_) operations_[at(own.part->number)] = add(graph, own);
  return graph;
}

// Each rank adds its parts in another order: they agree on no more than `Position` asks for.
std::vector<Instance::Own> Instance::own_parts() const {
  constexpr std::size_t most_waiting = 10;
  std::vector<Own> order;
  std::vector<Own> waiting;
  Random random{program_.steps.front().salt + static_cast<Word>(context_.rank())};
  const auto take_any = [&] {
    std::size_t taken = random.below(waiting.size());
    for (std::size_t other = taken; other-- > 0;) {
      if (stays_before(waiting[other], waiting[taken])) taken = other;
    }
    order.push_back(waiting[taken]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(taken));
  };
  for (std::size_t s = 0; s < program_.steps.size(); ++s) {
    for (const Part& part : program_.steps[s].parts) {
      if (part.rank != context_.rank()) continue;
      waiting.push_back({static_cast<int>(s), &part});
      if (waiting.size() > most_waiting) take_any();
    }
  }
  while (!waiting.empty()) take_any();
  return order;
}

bool Instance::stays_before(const Own& first, const Own& second) const {
  const auto& after = second.part->after;
  if (std::find(after.begin(), after.end(), first.part->number) != after.end()) return true;
  const Step& a = program_.steps[at(first.step)];
  const Step& b = program_.steps[at(second.step)];
  if (a.kind != b.kind || a.position != b.position) return false;
  if (a.kind == Step::Kind::collective) return true;
  return a.kind == Step::Kind::message && a.parts[0].rank == b.parts[0].rank && a.parts[1].rank == b.parts[1].rank;
}

schedule::OperationId Instance::add(schedule::Graph& graph, const Own& own) {
  const Step& step = program_.steps[at(own.step)];
  const Part& part = *own.part;
  const int step_index = own.step;
  schedule::Dependencies after;
  for (const int number : part.after) after.push_back(operations_[at(number)]);
  std::vector<schedule::Range> reads;
  schedule::Slots uses;
  for (const Cells& cells : part.reads) {
    reads.push_back(range(cells));
    uses.push_back(reads.back().slot);
  }
  const schedule::Range writes = part.writes.empty() ? schedule::Range{} : range(part.writes[0]);
  if (!part.writes.empty()) uses.push_back(writes.slot);
  const bool first = &part == step.parts.data();

  switch (step.kind) {
    case Step::Kind::message:
      return first ? graph.send(step.position, step.parts[1].rank, reads[0], after)
                   : graph.receive(step.position, step.parts[0].rank, writes, after);
    case Step::Kind::compute: {
      const auto work = [&step, step_index, reads, writes](const schedule::Run& run, Index sub_step) {
        const bool throws = run.arguments<std::vector<bool>>()[at(step_index)];
        if (throws && sub_step == static_cast<Index>(step.salt % static_cast<Word>(step.sub_steps))) {
          throw InjectedFailure(step_index);
        }
        std::vector<std::span<const Word>> from;
        for (const schedule::Range read : reads) from.push_back(const_words(run, read));
        compute_words(step, sub_step, from, words(run, writes));
      };
      return graph.compute(step.position, step.sub_steps, work, uses, after);
    }
    case Step::Kind::reduce:
      return graph.reduce_local(step.position, reads[0], writes, writes, mpi::reduction<Word>(reduction_of(step)),
                                after);
    case Step::Kind::collective: {
      const auto begin = [this, writes](const schedule::Run& run) {
        MPI_Request request = MPI_REQUEST_NULL;
        const auto data = words(run, writes);
        mpi::check(MPI_Iallreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_UINT64_T, MPI_SUM,
                                  collectives_->handle(), &request),
                   "MPI_Iallreduce");
        return mpi::Request(request);
      };
      return graph.request(step.position, begin, uses, after);
    }
    case Step::Kind::flag: break;
  }
  const int readers = static_cast<int>(step.parts.size()) - 1;
  return first ? graph.signal(step.position, *flags_, step.flag, readers, after)
               : graph.await(step.position, *flags_, step.flag, after);
}

void Instance::start(Word data_seed, std::vector<bool> throws) {
  data_seed_ = data_seed;
  throws_ = std::move(throws);
  memory_.clear();
  std::vector<schedule::Binding> bindings;
  const auto& slots = program_.stores[at(context_.rank())].slots;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].memory == Program::Memory::staging) continue;
    Memory& memory = memory_.emplace_back(at(slots[slot].words + 2 * guard_words), guard);
    const auto data = std::span(memory).subspan(at(guard_words), at(slots[slot].words));
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] = initial_word(data_seed, context_.rank(), static_cast<int>(slot), static_cast<Index>(i));
    }
    bindings.push_back(slots[slot].memory == Program::Memory::input
                           ? schedule::Binding::input(std::as_bytes(data))
                           : schedule::Binding::output(std::as_writable_bytes(data)));
  }
  schedule_->start(bindings, &throws_);
}

void Instance::wait_and_check() {
  const Outcome outcome = std::move(interpret(program_, data_seed_, throws_)[at(context_.rank())]);
  check_exception(outcome);
  check_outputs(outcome);
  for (std::size_t peer = 0; peer < peer_classes.size(); ++peer) {
    expected_traffic_.sent[peer] += outcome.traffic.sent[peer];
    expected_traffic_.received[peer] += outcome.traffic.received[peer];
  }
  EXPECT_EQ(context_.counters()[label_], expected_traffic_) << label_;
}

void Instance::check_exception(const Outcome& outcome) {
  const auto is_among = [](int value, const std::vector<int>& all) {
    return std::find(all.begin(), all.end(), value) != all.end();
  };
  try {
    schedule_->wait();
    EXPECT_TRUE(outcome.thrown.empty() && outcome.failed_peers.empty()) << label_ << ": nothing was thrown";
  } catch (const InjectedFailure& failure) {
    EXPECT_TRUE(is_among(failure.step, outcome.thrown)) << label_ << ": " << failure.what();
  } catch (const PeerFailed& failure) {
    EXPECT_TRUE(outcome.thrown.empty()) << label_ << ": the rank's own exception goes first; " << failure.what();
    EXPECT_TRUE(is_among(failure.rank(), outcome.failed_peers)) << label_ << ": " << failure.what();
  }
  EXPECT_FALSE(schedule_->active());
}

void Instance::check_outputs(const Outcome& outcome) const {
  const auto& slots = program_.stores[at(context_.rank())].slots;
  std::size_t bound = 0;
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].memory == Program::Memory::staging) continue;
    const Memory& memory = memory_[bound++];
    const std::span data = std::span(memory).subspan(at(guard_words), at(slots[slot].words));
    int wrong = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (!outcome.defined[slot][i] || data[i] == outcome.slots[slot][i]) continue;
      if (++wrong == 1) ADD_FAILURE() << label_ << ": word " << i << " of slot " << slot << " is wrong";
    }
    const auto is_guard = [](Word word) { return word == guard; };
    EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + guard_words, is_guard) &&
                std::all_of(memory.end() - guard_words, memory.end(), is_guard))
        << label_ << ": something was written beside slot " << slot;
  }
}

}  // namespace plait::test
