#pragma once

#include <mpi.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plait/mpi/communicator.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/flags.hpp"
#include "plait/schedule/schedule.hpp"

#include "mpi/schedule/interpreter.hpp"
#include "mpi/schedule/program.hpp"
#include "support/watchdog.hpp"

namespace plait::test {

/// What a computation throws when it is told to.
struct InjectedFailure : std::runtime_error {
  explicit InjectedFailure(int failed_step)
      : std::runtime_error("injected into step " + std::to_string(failed_step)), step(failed_step) {}
  int step;
};

/// A program made into a schedule, with the memory of one run after the other. Its staging pools have as few blocks as
/// `Schedule` accepts. Collective, as schedules are.
class Instance {
 public:
  Instance(mpi::Context& context, const Program& program, schedule::Windows windows, std::string label);

  /// Begins a run on newly made memory. \param throws  for each step, whether its computation throws
  void start(Word data_seed, std::vector<bool> throws);
  void start(Word data_seed) { start(data_seed, std::vector<bool>(program_.steps.size(), false)); }
  bool progress() { return schedule_->progress(); }

  /// Waits and compares with the interpreter: what is thrown, what the outputs hold, what was counted.
  void wait_and_check();

 private:
  /// An output with a guard before and after.
  using Memory = std::vector<Word>;
  static constexpr Index guard_words = 8;
  static constexpr Word guard = 0x5af35af35af35af3U;

  /// A part of this rank.
  struct Own {
    int step;
    const Part* part;
  };
  [[nodiscard]] std::vector<Own> own_parts() const;
  [[nodiscard]] bool stays_before(const Own& first, const Own& second) const;
  [[nodiscard]] schedule::Graph make_graph(const std::vector<Index>& blocks);
  [[nodiscard]] std::vector<Index> fewest_blocks();
  [[nodiscard]] schedule::OperationId add(schedule::Graph& graph, const Own& own);
  [[nodiscard]] schedule::Range range(const Cells& cells) const;
  void check_exception(const Outcome& outcome);
  void check_outputs(const Outcome& outcome) const;

  mpi::Context& context_;
  const Program& program_;
  std::string label_;
  std::optional<mpi::Communicator> collectives_;
  std::optional<schedule::NodeFlags> flags_;
  std::vector<schedule::SlotId> slots_;
  std::vector<Own> own_parts_;                     // in the order in which they are added to the graph
  std::vector<schedule::OperationId> operations_;  // by part

  Word data_seed_ = 0;
  std::vector<bool> throws_;
  std::vector<Memory> memory_;  // outlives the schedule that uses it
  TrafficCounters expected_traffic_;

  std::optional<schedule::Schedule> schedule_;
  std::optional<Described> described_;
};

}  // namespace plait::test
