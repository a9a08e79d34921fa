#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/course.hpp"

#include "cli/host/checkpoint.hpp"
#include "cli/host/signals.hpp"
#include "cli/scaling/options.hpp"

namespace plait::cli {

/// Keeps the state of a job of scaling or transport, for --checkpoint, and finds one, for --resume. The contents of a
/// checkpoint are its vectors, one after the other: those of all rows, then those that all ranks share. Does nothing
/// where no checkpoint is asked for.
class ScalingCheckpoint {
 public:
  /// What has to be the same for a job to go on.
  struct Identity {
    std::string job;                  // "plait sinkhorn"
    std::vector<std::string> inputs;  // the files that it reads, empty names for none
    nlohmann::json settings;
    Index own_rows = 0;
    Index columns = 0;
  };

  /// Looks for a checkpoint to go on from; an old one that is not gone on from is removed. Collective over `context`.
  ///
  /// \throws FileError      on every rank: see read_checkpoint_file; a checkpoint of another job
  /// \throws ArgumentError  on every rank: it has as many iterations as there may be
  ScalingCheckpoint(mpi::Context& context, const CheckpointOptions& options, Index most_iterations, Identity identity);

  /// To be used as long as this lives.
  void put_into(sinkhorn::Limits& limits);

  /// Iterations that the checkpoint had, of the stage under way; 0 without one.
  [[nodiscard]] Index resumed_at() const noexcept;

  /// The job is done. A run that did not converge keeps its checkpoint, and the reason says so. Collective.
  void end(sinkhorn::Outcome& outcome);

 private:
  [[nodiscard]] bool is_due(Index iterations);
  void read(const nlohmann::json& checkpoint);
  void keep(const iterate::Checkpoint& state);
  void write(const iterate::Checkpoint& state);

  mpi::Context& context_;
  const CheckpointOptions& options_;
  Index most_iterations_;
  Identity identity_;
  Index first_row_;
  Index all_rows_;
  std::string contents_;  // of the last one that was written
  CheckpointAttempts attempts_;
  std::optional<StopRequest> stop_;
  int signal_ = 0;  // that this job is to stop for
  std::optional<iterate::Checkpoint> state_;
};

}  // namespace plait::cli
