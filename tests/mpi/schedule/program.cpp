#include "mpi/schedule/program.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "support/random.hpp"

namespace plait::test {
namespace {

using schedule::Position;

constexpr Index bound_words = 600;
constexpr Index pool_words[] = {40, 200};  // the last one has room for the longest message
constexpr int bound_slots = 4;             // inputs first, half of them

bool overlap(const Cells& a, const Cells& b) {
  return a.slot == b.slot && a.first < b.first + b.count && b.first < a.first + a.count;
}

template <class Slots, class F>
void each_word(Slots& slots, const std::vector<Cells>& ranges, F f) {
  for (const Cells& cells : ranges) {
    auto& words = slots[at(cells.slot)];
    for (Index i = 0; i < cells.count; ++i) f(words[at(cells.first + i)]);
  }
}

/// Which earlier parts of a rank a new one has to wait for: those that wrote what it reads or writes, and those that
/// read what it writes.
class Hazards {
 public:
  void add_slot(Index words) { slots_.emplace_back(at(words)); }

  /// Part numbers, ascending, each once.
  [[nodiscard]] std::vector<int> before(const Part& part) const {
    std::vector<int> parts;
    const auto add = [&](int number) {
      if (number >= 0 && (parts.empty() || parts.back() != number)) parts.push_back(number);
    };
    each_word(slots_, part.reads, [&](const Word& word) { add(word.writer); });
    each_word(slots_, part.writes, [&](const Word& word) {
      add(word.writer);
      for (const int reader : word.readers) add(reader);
    });
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return parts;
  }
  /// From now on `part` has read and written what it says.
  void record(const Part& part) {
    each_word(slots_, part.reads, [&](Word& word) {
      if (word.readers.empty() || word.readers.back() != part.number) word.readers.push_back(part.number);
    });
    each_word(slots_, part.writes, [&](Word& word) {
      word.writer = part.number;
      word.readers.clear();
    });
  }

 private:
  struct Word {
    int writer = -1;
    std::vector<int> readers{};  // since it was written
  };
  std::vector<std::vector<Word>> slots_;
};

class Maker {
 public:
  Maker(std::uint64_t seed, int ranks, const Shape& shape)
      : random_{seed}, shape_(shape), program_{ranks, shape.strands, {}, {}}, states_(at(ranks)) {
    program_.stores.resize(at(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      for (int slot = 0; slot < bound_slots; ++slot) {
        add_slot(rank, {slot < bound_slots / 2 ? Program::Memory::input : Program::Memory::output, bound_words});
      }
      if (shape.staging) program_.stores[at(rank)].pools.assign(std::begin(pool_words), std::end(pool_words));
    }
  }

  Program make() {
    while (static_cast<int>(program_.steps.size()) < shape_.steps) {
      switch (random_.below(16)) {
        case 0: ring(); break;
        case 1: tree(); break;
        case 2: chain(); break;
        case 3: exchange(); break;
        case 4: collective(); break;
        case 5: flag(); break;
        case 6:
        case 7: reduce(any_rank()); break;
        case 8:
        case 9:
        case 10:
        case 11: compute(any_rank()); break;
        default: message(any_rank(), any_rank(), any_count());
      }
    }
    return std::move(program_);
  }

 private:
  struct Live {  // a staging slot that later steps may use
    int slot;
    Index words;
    int uses_left;
  };
  struct Done {  // a part
    Position position;
    std::optional<Position> latest;  // of what crosses ranks among this part and all before it
  };
  struct State {
    Hazards hazards;
    std::vector<Done> done;
    std::vector<Live> live;
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  int any_rank() { return random_.below(program_.ranks); }
  Index any_count() {
    switch (random_.below(10)) {
      case 0: return 0;
      case 1: return 200;
      case 2:
      case 3: return 40 + random_.below(Index{160});
      default: return 1 + random_.below(Index{40});
    }
  }

  int add_slot(int rank, Program::Slot slot) {
    auto& slots = program_.stores[at(rank)].slots;
    slots.push_back(slot);
    states_[at(rank)].hazards.add_slot(slot.words);
    return static_cast<int>(slots.size()) - 1;
  }

  Cells within(int slot, Index words, Index count) { return {slot, random_.below(words - count + 1), count}; }

  // Staging in use, of at least `count` words; used up sooner or later, so that its block becomes free.
  std::optional<Cells> live(int rank, Index count) {
    auto& all = states_[at(rank)].live;
    if (all.empty()) return std::nullopt;
    const std::size_t index = random_.below(all.size());
    Live& chosen = all[index];
    if (chosen.words < count) return std::nullopt;
    const Cells cells = within(chosen.slot, chosen.words, count);
    if (--chosen.uses_left == 0) all.erase(all.begin() + static_cast<std::ptrdiff_t>(index));
    return cells;
  }

  Cells readable(int rank, Index count) {
    if (random_.one_in(2)) {
      if (const auto cells = live(rank, count)) return *cells;
    }
    return within(random_.below(bound_slots), bound_words, count);
  }

  Cells writable(int rank, Index count) {
    if (random_.one_in(3)) {
      if (const auto cells = live(rank, count)) return *cells;
    }
    return within(bound_slots / 2 + random_.below(bound_slots / 2), bound_words, count);
  }

  // For what writes without reading: also a new staging slot.
  Cells target(int rank, Index count) {
    if (!shape_.staging || random_.one_in(2)) return writable(rank, count);
    return staged(rank, count);
  }

  Cells staged(int rank, Index count) {
    const int pool = count <= pool_words[0] && !random_.one_in(8) ? 0 : 1;
    const int slot = add_slot(rank, {Program::Memory::staging, pool_words[pool], pool});
    states_[at(rank)].live.push_back({slot, count, 1 + random_.below(3)});
    return {slot, 0, count};
  }

  template <class Choose>
  Cells disjoint_from(const Cells& other, Choose choose) {
    Cells cells = choose();
    while (overlap(cells, other)) cells = choose();
    return cells;
  }

  Cells message(int from, int to, Index count) {
    const Cells source = readable(from, count);
    const Cells destination = from == to ? disjoint_from(source, [&] { return target(to, count); }) : target(to, count);
    return message(from, source, to, destination);
  }
  Cells message(int from, const Cells& source, int to, const Cells& destination) {
    add({Step::Kind::message, {}, {{from, {source}, {}}, {to, {}, {destination}}}});
    return destination;
  }
  Cells forward(int from, const Cells& source, int to) {
    const Cells destination = disjoint_from(from == to ? source : Cells{-1}, [&] {
      return shape_.staging && !random_.one_in(4) ? staged(to, source.count) : writable(to, source.count);
    });
    return message(from, source, to, destination);
  }

  void chain() {
    int at_rank = any_rank();
    Cells cells = readable(at_rank, any_count());
    for (int hop = random_.below(2 * program_.ranks); hop >= 0; --hop) {
      const int next = any_rank();
      cells = forward(at_rank, cells, next);
      at_rank = next;
    }
  }

  void ring() {
    const Index count = any_count();
    std::vector<Cells> held;
    for (int rank = 0; rank < program_.ranks; ++rank) held.push_back(readable(rank, count));
    for (int round = 1 + random_.below(program_.ranks); round > 0; --round) {
      std::vector<Cells> next(held.size());
      for (int rank = 0; rank < program_.ranks; ++rank) {
        const int right = (rank + 1) % program_.ranks;
        next[at(right)] = forward(rank, held[at(rank)], right);
      }
      held = std::move(next);
    }
  }

  // Binomial, away from a root.
  void tree() {
    const int root = any_rank();
    std::vector<Cells> held(at(program_.ranks));
    held[0] = readable(root, any_count());
    for (int reached = 1; reached < program_.ranks; reached *= 2) {
      for (int k = 0; k < reached && k + reached < program_.ranks; ++k) {
        held[at(k + reached)] =
            forward((root + k) % program_.ranks, held[at(k)], (root + k + reached) % program_.ranks);
      }
    }
  }

  // Sometimes all of it at one position, where only the order of ranks keeps it from going around in circles.
  void exchange() {
    const bool at_one_position = random_.one_in(2);
    for (int from = 0; from < program_.ranks; ++from) {
      for (int to = 0; to < program_.ranks; ++to) {
        message(from, to, any_count());
        if (at_one_position) preferred_ = program_.steps.back().position;
      }
    }
    preferred_.reset();
  }

  void collective() {
    if (!shape_.collectives) return;
    Step step{Step::Kind::collective, {}, {}};
    const Index count = any_count();
    for (int rank = 0; rank < program_.ranks; ++rank) step.parts.push_back({rank, {}, {writable(rank, count)}});
    add(std::move(step));
  }

  void flag() {
    if (!shape_.flags) return;
    const int signaller = any_rank();
    Step step{Step::Kind::flag, {}, {{signaller, {readable(signaller, any_count())}, {}}}};
    for (int rank = 0; rank < program_.ranks; ++rank) {
      if (random_.one_in(2)) step.parts.push_back({rank, {}, {writable(rank, any_count())}});
    }
    step.flag = program_.flags++;
    add(std::move(step));
  }

  void compute(int rank) {
    Step step{Step::Kind::compute, {}, {{rank, {}, {}}}};
    step.sub_steps = random_.below(4);
    for (int reads = random_.below(3); reads >= 0; --reads) step.parts[0].reads.push_back(readable(rank, any_count()));
    const Index count = any_count();
    step.parts[0].writes.push_back(step.sub_steps == 0 ? writable(rank, count) : target(rank, count));
    add(std::move(step));
  }

  void reduce(int rank) {
    const Index count = any_count();
    const Cells in = readable(rank, count);
    const Cells inout = disjoint_from(in, [&] { return writable(rank, count); });
    add({Step::Kind::reduce, {}, {{rank, {in}, {inout}}}});
  }

  // At least that of all parts before, and above that of all messages before.
  Position position_for(const Step& step) {
    Position least{0, 0, 0};
    std::optional<Position> above;
    for (const Part& part : step.parts) {
      for (const int number : part.after) {
        const Done& before = states_[at(part.rank)].done[at(number)];
        least = std::max(least, before.position);
        if (step.crosses_ranks() && before.latest) above = std::max(above.value_or(*before.latest), *before.latest);
      }
    }
    const auto allowed = [&](const Position& p) { return p >= least && (!above || p > *above); };
    if (preferred_ && allowed(*preferred_)) return *preferred_;
    if (random_.one_in(4) && allowed(least)) return least;
    if (random_.one_in(3) && !program_.steps.empty()) {
      const std::size_t recent = std::min<std::size_t>(program_.steps.size(), 20);
      const Position other = program_.steps[program_.steps.size() - 1 - random_.below(recent)].position;
      if (allowed(other)) return other;
    }
    Position chosen{least.stage, random_.below(Index{shape_.strands}), random_.below(Index{3})};
    while (!allowed(chosen)) ++chosen.stage;
    if (random_.one_in(4)) chosen.stage += random_.below(Index{3});
    return chosen;
  }

  void add(Step step) {
    std::vector<int> added(at(program_.ranks), 0);
    for (Part& part : step.parts) {
      const State& state = states_[at(part.rank)];
      part.number = static_cast<int>(state.done.size()) + added[at(part.rank)]++;
      part.after = state.hazards.before(part);
    }
    step.position = position_for(step);
    step.salt = random_.bits();
    for (const Part& part : step.parts) {
      State& state = states_[at(part.rank)];
      Done done{step.position, std::nullopt};
      if (step.crosses_ranks()) done.latest = step.position;
      for (const int number : part.after) {
        const auto& before = state.done[at(number)].latest;
        if (before) done.latest = std::max(done.latest.value_or(*before), *before);
      }
      state.done.push_back(done);
      state.hazards.record(part);
    }
    program_.steps.push_back(std::move(step));
  }

  Random random_;
  Shape shape_;
  Program program_;
  std::vector<State> states_;
  std::optional<Position> preferred_;
};

}  // namespace

Program random_program(std::uint64_t seed, int ranks, const Shape& shape) { return Maker(seed, ranks, shape).make(); }

}  // namespace plait::test
