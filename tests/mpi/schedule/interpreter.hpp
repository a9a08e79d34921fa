#pragma once

#include <span>
#include <vector>

#include "plait/base/counters.hpp"

#include "mpi/schedule/program.hpp"

namespace plait::test {

/// What one rank must have after a program has run.
struct Outcome {
  std::vector<std::vector<Word>> slots;
  std::vector<std::vector<bool>> defined;  // word by word: false where a step failed that would have written it
  std::vector<int> thrown;                 // the steps whose computation threw here
  std::vector<int> failed_peers;           // the ranks that told this one of a failure
  TrafficCounters traffic;                 // ranks of one node
};

/// What a slot holds before a run.
[[nodiscard]] Word initial_word(Word data_seed, int rank, int slot, Index index);

/// What a `compute` step does in its `sub_step`, of `step.sub_steps`.
void compute_words(const Step& step, Index sub_step, std::span<const std::span<const Word>> reads,
                   std::span<Word> writes);

/// The operation of a `reduce` step.
[[nodiscard]] MPI_Op reduction_of(const Step& step);

/// The outcome for each rank, found by doing one step after the other, in the order in which the program has them.
/// \param throws  for each step, whether its computation throws
[[nodiscard]] std::vector<Outcome> interpret(const Program& program, Word data_seed, const std::vector<bool>& throws);

}  // namespace plait::test
