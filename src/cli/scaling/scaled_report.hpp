#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "plait/io/file_kind.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/scaling/plan.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/scaling/iteration_log.hpp"
#include "cli/scaling/plan_sketch.hpp"
#include "cli/scaling/scaled_options.hpp"

namespace plait::cli {

/// What is told of a job of any kind. Seconds are from when all ranks have begun until the last is done.
struct ScaledOutcome {
  sinkhorn::Outcome outcome;
  sinkhorn::MarginalErrors check;  // of the plan as it is written
  Precision precision = Precision::automatic;
  Index iterations = 0;  // of all stages
  Index resumed_at = 0;  // iterations of its stage that a checkpoint had, 0 without
  double read_seconds = 0;
  double iterate_seconds = 0;
  double write_seconds = 0;
  double seconds = 0;
  Index swept_bytes = 0;             // that an iteration reads or writes of the matrix, on all ranks; 0: nobody knows
  IterationLog log;                  // for --report
  std::optional<PlanSketch> sketch;  // likewise
};

/// What a plan that comes of converged vectors may be off by, ten times the tolerance and what rounding its elements
/// leaves.
[[nodiscard]] double accuracy_of(const ScaledOptions& options, Precision precision);

/// Looks whether the plan is one. Where the iterations converged, but its own sums are off by more than `accuracy`, the
/// status becomes that of a numerical limit: of small epsilons the vectors can't be told from their neighbours.
///
/// \throws Error  on every rank, as there is nothing to be written: no support, infeasible marginals, or a plan that is
///                no plan; with the reason
void expect_plan(mpi::Context& context, sinkhorn::Outcome& outcome, const sinkhorn::MarginalErrors& check,
                 double accuracy);

/// Its parts, for those who look at several plans at once: what it throws, on this rank, and what it makes of the
/// outcome.
void expect_plan_of(const sinkhorn::Outcome& outcome, const sinkhorn::MarginalErrors& check);
void compare_with_check(sinkhorn::Outcome& outcome, const sinkhorn::MarginalErrors& check, double accuracy);

/// A warning where the tolerance was not reached, else empty.
[[nodiscard]] std::string warning(const sinkhorn::Outcome& outcome);

/// The lines that all kinds have, after their first ones.
[[nodiscard]] std::string scaled_summary(const ScaledOptions& options, const io::MatrixFile& file,
                                         const ScaledOutcome& outcome);

/// The keys that all kinds have, but for those that a kind erases.
[[nodiscard]] nlohmann::ordered_json scaled_json(const mpi::Context& context, const char* command,
                                                 const ScaledOptions& options, const io::MatrixFile& file,
                                                 const MemoryEstimate& memory, const ScaledOutcome& outcome);

}  // namespace plait::cli
