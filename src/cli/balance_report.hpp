#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "plait/mpi/context.hpp"

#include "cli/balance_options.hpp"
#include "cli/scaled_job.hpp"
#include "cli/scaled_report.hpp"

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

/// What rows and columns that are not masked are to sum up to: those with a factor. This rank has some rows, from
/// `first_row` on.
[[nodiscard]] sinkhorn::CheckedMarginals wanted_of_balance(mpi::Context& context, const std::vector<double>& factors,
                                                           double sum, Index first_row, Index rows);

/// Writes the factors of this rank's rows, NaN for masked ones. Collective over `context`.
void write_factors(mpi::Context& context, const BalanceOptions& options, const std::vector<double>& factors,
                   Index first_row, Index rows);

}  // namespace plait::cli
