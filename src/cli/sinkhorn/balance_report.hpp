#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "plait/mpi/context.hpp"

#include "cli/scaling/narrowed_entries.hpp"
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

/// What rows and columns that are not masked are to sum up to: those with a factor. This rank has some rows, from
/// `first_row` on.
[[nodiscard]] sinkhorn::CheckedMarginals wanted_of_balance(mpi::Context& context, const std::vector<double>& factors,
                                                           double sum, Index first_row, Index rows);

/// Writes the factors of this rank's rows, NaN for masked ones. Collective over `context`.
void write_factors(mpi::Context& context, const BalanceOptions& options, const std::vector<double>& factors,
                   Index first_row, Index rows);

/// Balances and tells what came of it, as `carry_out` does. Collective over `context`.
///
/// \param balanced  balanced<T>(meter, narrowed) returns a BalanceOutcome, T being what the entries are stored in
template <class Balanced>
void carry_out_balance(mpi::Context& context, const BalanceOptions& options, const ScaledJob& job,
                       const Balanced& balanced) {
  const auto work = [&](Meter& meter) {
    return telling_what_was_lost(context, options.input, [&](NarrowedEntries& narrowed) {
      return job.precision == Precision::mixed ? balanced.template operator()<float>(meter, narrowed)
                                               : balanced.template operator()<double>(meter, narrowed);
    });
  };
  carry_out(
      context, options, work,
      [&](const BalanceOutcome& outcome) { return balance_json(context, options, job, outcome); },
      [&](const BalanceOutcome& outcome) { return balance_summary(options, job, outcome); },
      [&](const BalanceOutcome& outcome) { return balance_facts(options, outcome); });
}

}  // namespace plait::cli
