#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plait/sinkhorn/transport/transport.hpp"

#include "cli/scaling/scaled_job.hpp"
#include "cli/scaling/scaled_report.hpp"
#include "cli/transport/points_sketch.hpp"
#include "cli/transport/transport_options.hpp"

namespace plait::cli {

/// What is told of a transport beside what every job of the kind tells.
struct TransportOutcome : ScaledOutcome {
  std::vector<sinkhorn::TransportStage> stages;
  double cost = 0;
  double dual = 0;
  double gap = 0;
  double row_divergence = 0;
  double column_divergence = 0;
  std::optional<PointsSketch> points;  // for --report
};

template <class A>
void tell(TransportOutcome& result, const sinkhorn::Transport<A>& found, bool is_transposed) {
  result.outcome = found.outcome;
  result.stages = found.stages;
  for (const auto& stage : found.stages) result.iterations += stage.iterations;
  result.cost = found.cost;
  result.dual = found.dual;
  result.gap = found.gap();
  result.row_divergence = is_transposed ? found.column_divergence : found.row_divergence;
  result.column_divergence = is_transposed ? found.row_divergence : found.column_divergence;
}

/// What a checkpoint has to be one of.
[[nodiscard]] nlohmann::json checkpoint_settings(const TransportJobOptions& options, Precision precision);

/// The job's own keys and the common ones.
[[nodiscard]] nlohmann::ordered_json transport_json(const mpi::Context& context, const TransportJobOptions& options,
                                                    const ScaledJob& job, const TransportOutcome& outcome);

/// What its page has beside what all have.
[[nodiscard]] PageFacts transport_facts(const TransportJobOptions& options, const TransportOutcome& outcome);

[[nodiscard]] std::string transport_summary(const TransportJobOptions& options, const ScaledJob& job,
                                            const TransportOutcome& outcome);

}  // namespace plait::cli
