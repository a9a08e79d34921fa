#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "plait/mpi/context.hpp"

#include "cli/scaling/scaled_job.hpp"
#include "cli/scaling/scaled_report.hpp"
#include "cli/sinkhorn/balance_options.hpp"

namespace plait::cli {

/// What is told of balancing beside what every job of the kind tells.
struct BalanceOutcome : ScaledOutcome {
  Index masked = 0;
};

/// The job's own keys and the common ones; `entries` of a sparse matrix.
[[nodiscard]] nlohmann::ordered_json balance_json(const mpi::Context& context, const BalanceOptions& options,
                                                  const ScaledJob& job, const BalanceOutcome& outcome);

[[nodiscard]] std::string balance_summary(const BalanceOptions& options, const ScaledJob& job,
                                          const BalanceOutcome& outcome);

/// What the page of --report tells beside the common things.
[[nodiscard]] PageFacts balance_facts(const BalanceOptions& options, const BalanceOutcome& outcome);

}  // namespace plait::cli
