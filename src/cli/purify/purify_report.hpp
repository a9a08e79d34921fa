#pragma once

#include <string>

#include "plait/mpi/context.hpp"

#include "cli/purify/purify_options.hpp"
#include "cli/purify/purify_run.hpp"
#include "cli/purify/purify_task.hpp"

namespace plait::cli {

/// What `plait purify` did, for people: a table of the steps, and some lines.
[[nodiscard]] std::string summary(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome);

/// The same as a JSON object in one line; the keys are documented in docs/command.md.
[[nodiscard]] std::string json_report(const mpi::Context& context, const PurifyOptions& options, const PurifyTask& task,
                                      const PurifyOutcome& outcome);

[[nodiscard]] inline bool is_smeared(const PurifyTask& task) { return task.width > 0; }
/// Whether there are states on both sides of a gap.
[[nodiscard]] inline bool is_split(const PurifyTask& task) {
  return !is_smeared(task) && task.occupied > 0 && task.occupied < task.states;
}

/// Of all electrons, over Boltzmann's constant; 0 without smearing.
[[nodiscard]] inline double entropy_of(const PurifyOptions& options, const PurifyOutcome& outcome) {
  return options.per_state * outcome.occupations.entropy;
}
[[nodiscard]] inline double free_energy_of(const PurifyOptions& options, const PurifyTask& task,
                                           const PurifyOutcome& outcome) {
  return outcome.energy - task.width * entropy_of(options, outcome);
}

/// What is known of the gap and the states at it: numbers, or intervals where these are not resolved.
[[nodiscard]] std::string gap_text(const PurifyOutcome& outcome);
[[nodiscard]] std::string highest_occupied_text(const PurifyOutcome& outcome);
[[nodiscard]] std::string lowest_empty_text(const PurifyOutcome& outcome);

/// "53.2 GFlop/s", "-" where nothing was multiplied.
[[nodiscard]] std::string flops_text(const PurifyOutcome& outcome);
/// "63.2 %", "-" where nothing was under way.
[[nodiscard]] std::string hidden_text(const PurifyOutcome& outcome);
/// "1.51", "-" with one rank.
[[nodiscard]] std::string volume_text(const PurifyOutcome& outcome);

}  // namespace plait::cli
