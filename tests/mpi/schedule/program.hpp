#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/schedule/graph.hpp"

/// Programs that several ranks run together, to test schedules with. All ranks make the same program from one seed;
/// each makes its own graph of it (`instance.hpp`), and all know what must come out of it (`interpreter.hpp`).
namespace plait::test {

inline std::size_t at(Index index) { return static_cast<std::size_t>(index); }

using Word = std::uint64_t;

/// Consecutive words of a slot of one rank.
struct Cells {
  int slot = 0;
  Index first = 0;
  Index count = 0;
};

/// What one rank has to do with a step.
struct Part {
  int rank;
  std::vector<Cells> reads;
  std::vector<Cells> writes;
  int number = 0;            // among the parts of this rank
  std::vector<int> after{};  // parts of this rank that have to be over before, by number
};

struct Step {
  enum class Kind : unsigned char {
    message,     // parts: the sender reads, the receiver writes
    compute,     // one part: writes something made of what it reads
    reduce,      // one part: writes[0] ← reads[0] op writes[0]
    collective,  // a part for each rank: the sum of all into each
    flag,        // the signaller reads; the readers count as writing, although nothing changes
  };
  Kind kind;
  schedule::Position position;
  std::vector<Part> parts;
  Word salt = 0;      // makes each computation another one, and picks the operation of a reduction
  int sub_steps = 1;  // of a computation
  Index flag = 0;

  [[nodiscard]] bool crosses_ranks() const noexcept { return kind != Kind::compute && kind != Kind::reduce; }
};

struct Program {
  enum class Memory : unsigned char { input, output, staging };
  struct Slot {
    Memory memory;
    Index words;
    int pool = -1;
  };
  /// What one rank needs for it.
  struct Store {
    std::vector<Slot> slots;
    std::vector<Index> pools;  // words of their blocks
  };

  int ranks;
  int strands;
  std::vector<Store> stores;  // by rank
  std::vector<Step> steps;
  Index flags = 0;
};

/// What kind of program to make.
struct Shape {
  int steps = 100;
  int strands = 3;
  bool staging = true;
  bool collectives = true;
  bool flags = true;
};

/// The same seed gives the same program. It has chains, rings, trees and exchanges of all with all, messages of a rank
/// to itself and empty ones, between computations on parts of what has come.
[[nodiscard]] Program random_program(std::uint64_t seed, int ranks, const Shape& shape);

}  // namespace plait::test
