#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/state.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/transport/barycentre.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/job/checkpoint_file.hpp"
#include "cli/job/stop.hpp"
#include "cli/scaling/scaled_options.hpp"

namespace plait::cli {

/// Keeps where a job of scaling or transport is, for --checkpoint, and finds where one was, for --resume. The
/// contents of a checkpoint are the vectors, one after the other: those of all rows, those of all columns, and the
/// error after each iteration, which may be millions. Nothing happens where no checkpoint is asked for.
class ScaledCheckpoint {
 public:
  /// Looks for a checkpoint to go on from; an old one that is not gone on from is removed. Collective over `context`.
  ///
  /// \param job      "plait sinkhorn"
  /// \param inputs   the files that the job reads, empty names for none
  /// \param settings what else has to be the same
  /// \throws FileError  on every rank: see read_checkpoint_file; a checkpoint of another job
  ScaledCheckpoint(mpi::Context& context, const ScaledOptions& options, std::string_view job,
                   const std::vector<std::string>& inputs, nlohmann::json settings, Index own_rows, Index columns);

  /// To be used as long as this lives.
  [[nodiscard]] sinkhorn::ScalingCheckpoints of_scaling();
  void put_into(sinkhorn::TransportOptions& options) { put(options); }
  void put_into(sinkhorn::BarycentreOptions& options) { put(options); }

  /// Iterations that the checkpoint had, of the stage under way; 0 without one.
  [[nodiscard]] Index resumed_at() const noexcept;

  /// The job is done. A run that did not converge keeps its checkpoint, and the reason says so. Collective.
  void end(sinkhorn::Outcome& outcome);

 private:
  template <class Options>
  void put(Options& options);
  void look_for_one();
  [[nodiscard]] bool is_due(Index iterations);
  void read(const nlohmann::json& checkpoint);
  void write(nlohmann::json checkpoint, const std::vector<const std::vector<double>*>& of_rows,
             const std::vector<const std::vector<double>*>& of_columns, const std::vector<double>& errors);
  void keep(const nlohmann::json& checkpoint, const std::vector<const std::vector<double>*>& of_rows,
            const std::vector<const std::vector<double>*>& of_columns, const std::vector<double>& errors);

  mpi::Context& context_;
  const ScaledOptions& options_;
  std::string job_;
  nlohmann::json identity_;
  Index own_rows_;
  Index first_row_;
  Index all_rows_;
  Index columns_;
  std::string contents_;  // of the last one that was written
  CheckpointAttempts attempts_;
  std::optional<StopRequest> stop_;
  int signal_ = 0;                                 // that this job is to stop for
  std::optional<sinkhorn::TransportState> state_;  // of a scaling, only that part
};

}  // namespace plait::cli
