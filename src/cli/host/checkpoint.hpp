#pragma once

#include "plait/iterate/solver.hpp"

#include "cli/host/options.hpp"
#include "cli/host/signals.hpp"

namespace plait::cli {

/// Where the contents "a" or "b" of a checkpoint are.
[[nodiscard]] std::string contents_path(const std::string& path, const std::string& contents);

/// The checkpoints of a job that iterates: looks for one to go on from, for --resume, and keeps new ones, for
/// --checkpoint; does nothing without that option.
///
/// A checkpoint is a small text, and lets a file of numbers beside it, its contents, be one of two by turns, a and b;
/// it tells the one that was complete before it got its own name, so that a kill at any moment leaves a checkpoint that
/// can be gone on from. One that the limit of iterations was reached with describes the one before it as well, whose
/// contents are the other file: with the same limit the job does its last iteration again, which its result may need.
/// Iterations that this limit does not count, such as those of an earlier stage, have a number "not limited".
/// Both have checksums: a byte that is not as it was written is an error. The contents are the
/// vectors of an `iterate::Checkpoint`, one after the other: those of which each rank has its rows, then those that all
/// share.
///
/// All but the getters are collective over the context.
class Checkpoints {
 public:
  /// What has to be the same for a job to go on.
  struct Identity {
    std::vector<std::string> inputs;  // the files that it reads, empty names for none
    nlohmann::json settings;
    Index own_rows = 0;  // of this rank, in each vector of `by_rank`
    std::string limit = "--max-iterations";
  };

  /// An old checkpoint that is not gone on from is removed.
  ///
  /// \throws FileError      on every rank: it can't be read, is of another job, or it or its contents are not as they
  ///                        were written
  /// \throws ArgumentError  on every rank: it has more iterations than there may be, or as many, and none before it
  Checkpoints(mpi::Context& context, const Settings& settings, Index most_iterations, Identity identity);

  /// What to go on from; none: from the beginning.
  [[nodiscard]] const iterate::Checkpoint* from() const noexcept { return from_ ? &*from_ : nullptr; }
  /// It is used: it takes no memory any more.
  void forget() noexcept { from_.reset(); }
  /// Iterations that it had, of the stage under way; 0 without one.
  [[nodiscard]] Index resumed_at() const noexcept { return resumed_at_; }
  /// Whether another number of ranks wrote it.
  [[nodiscard]] bool is_of_other_ranks() const noexcept { return is_of_other_ranks_; }

  /// From now on signals end the job after a step; the observers of the iteration live as long as this, at most.
  template <class Observers>
  void put_into(Observers& observers) {
    if (settings_.checkpoint.empty()) return;
    stop_.emplace(context_);
    observers.is_due = [this](Index iterations) { return is_due(iterations); };
    observers.keep = [this](const iterate::Checkpoint& state) { keep(state); };
  }

  /// The iteration is over: signals end the job at once again.
  void end_iteration() noexcept { stop_.reset(); }
  /// The job has its result.
  void remove();
  /// The same where the iterations converged; where a limit or a number of epochs ended them, `reason` goes on with how
  /// to resume.
  void end(iterate::End end, std::string& reason);

 private:
  [[nodiscard]] bool is_due(Index iterations);
  void keep(const iterate::Checkpoint& state);
  void read(nlohmann::json checkpoint);
  void write(const iterate::Checkpoint& state);

  mpi::Context& context_;
  const Settings& settings_;
  std::string job_;  // "plait purify"
  Index most_iterations_;
  Identity identity_;
  Index first_row_;
  Index all_rows_;
  std::string contents_;  // of the last one that was written; empty: none was
  nlohmann::json last_;   // which that is, but for the one before it
  bool has_failed_ = false;
  std::optional<StopRequest> stop_;
  int signal_ = 0;  // that this job is to stop for
  std::optional<iterate::Checkpoint> from_;
  Index resumed_at_ = 0;
  bool is_of_other_ranks_ = false;
};

}  // namespace plait::cli
