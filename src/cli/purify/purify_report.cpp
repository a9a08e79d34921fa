#include "cli/purify/purify_report.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/job/json_values.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/quantities.hpp"
#include "cli/trace/trace_summary.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using purify::Interval;
using purify::Iterate;

std::string iterations_table(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome) {
  std::string text = fmt::format("  {:>9}  {:>11}  {:>11}  {:>20}  {:>9}\n", "iteration", "||X - X\u00b2||",
                                 "trace error", "energy", "time");
  const auto& iterates = outcome.state.iterates;
  for (std::size_t i = 0; i < iterates.size(); ++i) {
    const Iterate& iterate = iterates[i];
    text += fmt::format("  {:>9}  {:>10.3e}  {:>+11.3e}  {:>20.12g}  {:>9}\n", i, iterate.idempotency_error,
                        iterate.trace - static_cast<double>(task.occupied), options.per_state * iterate.energy,
                        seconds_text(iterate.seconds));
  }
  return text;
}

// Of all ranks and from the first read to the last check, not of the products alone.
std::string communication_text(const PurifyOutcome& outcome) {
  const report::RankOverlap all = outcome.overlap.sum();
  return all.under_way == 0 ? "nothing to hide: no message between ranks was under way"
                            : hidden_text(outcome) + " of communication hidden";
}

std::string interval_text(const Interval& interval) {
  return fmt::format("{:.10g} to {:.10g}", interval.low, interval.high);
}

}  // namespace

std::string flops_text(const PurifyOutcome& outcome) {
  if (outcome.product_seconds <= 0 || outcome.flops <= 0) return "-";
  return fmt::format("{:.3g} GFlop/s", outcome.flops / outcome.product_seconds * 1e-9);
}

std::string hidden_text(const PurifyOutcome& outcome) {
  const report::RankOverlap all = outcome.overlap.sum();
  return percent_text(static_cast<double>(all.hidden), static_cast<double>(all.under_way));
}

std::string volume_text(const PurifyOutcome& outcome) {
  if (outcome.least_bytes <= 0 || outcome.received_bytes == 0) return "-";
  return fmt::format("{:.3g}", static_cast<double>(outcome.received_bytes) / outcome.least_bytes);
}

std::string gap_text(const PurifyOutcome& outcome) {
  const Interval gap = outcome.frontier.gap();
  return is_gap_resolved(outcome) ? fmt::format("{:.8g}", gap.high) : interval_text(gap);
}

std::string highest_occupied_text(const PurifyOutcome& outcome) {
  const purify::Frontier& frontier = outcome.frontier;
  if (is_gap_resolved(outcome)) return fmt::format("{:.8g}", frontier.highest_occupied);
  return interval_text({frontier.highest_occupied, frontier.highest_occupied + frontier.occupied_error});
}

std::string lowest_empty_text(const PurifyOutcome& outcome) {
  const purify::Frontier& frontier = outcome.frontier;
  if (is_gap_resolved(outcome)) return fmt::format("{:.8g}", frontier.lowest_empty);
  return interval_text({frontier.lowest_empty - frontier.empty_error, frontier.lowest_empty});
}

std::string summary(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome) {
  std::string text =
      fmt::format("{}: {} electrons in {}{} states, method {}\n", options.input, *options.electrons,
                  is_smeared(task) ? "" : fmt::format("{} of ", task.occupied), task.states, method_name(task));
  if (!task.by_eigenstates) text += iterations_table(options, task, outcome);
  const auto line = [&text](std::string_view what, std::string_view value) {
    text += fmt::format("  {:<10}{}\n", what, value);
  };
  line("energy", fmt::format("{:.12g}{}", outcome.energy, options.per_state == 2 ? " = 2 tr(D H)" : " = tr(D H)"));
  if (is_split(task)) {
    line("gap", fmt::format("{}: highest occupied {}, lowest empty {}{}", gap_text(outcome),
                            highest_occupied_text(outcome), lowest_empty_text(outcome),
                            is_gap_resolved(outcome) ? "" : "; bounds only, Lanczos did not resolve these states"));
    line("mu",
         fmt::format("{}: any chemical potential in between is valid", interval_text(outcome.chemical_potentials)));
  }
  if (is_smeared(task)) {
    line("mu", fmt::format("{:.12g}, {} of width {:.6g}", outcome.chemical_potentials.low, name(options.smearing),
                           task.width));
    line("entropy", fmt::format("{:.12g} k", entropy_of(options, outcome)));
    line("free", fmt::format("{:.12g} = energy - width * entropy / k", free_energy_of(options, task, outcome)));
  }
  line("check", fmt::format("passed: trace error {:.1e}, {}commutator with H {:.1e}", outcome.trace_error,
                            is_smeared(task) ? ""
                                             : fmt::format("||{}|| {:.1e}, ", task.overlap ? "DSD - D" : "D\u00b2 - D",
                                                           outcome.idempotency_error),
                            outcome.commutator_error));
  if (outcome.root) {
    line("S^(-1/2)",
         fmt::format("{}, ||I - ZSZ|| {:.1e}",
                     task.inverse_root ? "given" : "found in " + counted(outcome.root->iterations, "iteration"),
                     outcome.root->error));
  }
  if (outcome.resumed_at > 0) {
    line("resumed", fmt::format("after iteration {}{}", outcome.resumed_at,
                                outcome.other_ranks ? " on another number of ranks: equal to rounding" : ""));
  }
  if (!task.by_eigenstates) {
    line("products",
         fmt::format("{} in the iterations, {}; {}", outcome.multiplications, flops_text(outcome), outcome.products));
  }
  line("overlap", communication_text(outcome));
  if (outcome.least_bytes > 0 && outcome.received_bytes > 0) {
    line("moved", fmt::format("at most {} to a rank, {}× the lower bound", bytes_text(outcome.received_bytes),
                              volume_text(outcome)));
  }
  line("memory", fmt::format("{} on the largest rank, estimated", bytes_text(outcome.memory.largest_rank)));
  if (!options.output.empty()) line("wrote", options.output);
  if (!options.energy_weighted.empty()) line("wrote", options.energy_weighted);
  if (!options.eigenvalues.empty()) line("wrote", options.eigenvalues);
  if (!options.page.empty()) line("report", options.page);
  if (!options.trace.empty()) line("trace", options.trace);
  line("total", fmt::format("{}: read {}, {} {}, {} {}, checked {}, wrote {}", seconds_text(outcome.seconds),
                            seconds_text(outcome.read_seconds), task.by_eigenstates ? "eigenstates" : "prepared",
                            seconds_text(outcome.prepare_seconds), task.by_eigenstates ? "summed up" : "iterated",
                            seconds_text(outcome.purify_seconds), seconds_text(outcome.check_seconds),
                            seconds_text(outcome.write_seconds)));
  return text;
}

std::string json_report(const mpi::Context& context, const PurifyOptions& options, const PurifyTask& task,
                        const PurifyOutcome& outcome) {
  ordered_json iterates = ordered_json::array();
  for (const Iterate& iterate : outcome.state.iterates) {
    iterates.push_back({{"idempotency_error", iterate.idempotency_error},
                        {"trace_error", iterate.trace - static_cast<double>(task.occupied)},
                        {"energy", options.per_state * iterate.energy},
                        {"seconds", iterate.seconds}});
  }
  const bool split = is_split(task);
  const bool resolved = is_gap_resolved(outcome);
  const Interval gap = outcome.frontier.gap();
  const report::RankOverlap all = outcome.overlap.sum();
  ordered_json report = job_json(context, "purify");
  report.update(
      {{"input", input_json(options.input, task.hamiltonian)},
       {"overlap", name_or_null(options.overlap)},
       {"output", output_json(options.output)},
       {"energy_weighted", name_or_null(options.energy_weighted)},
       {"eigenvalues", name_or_null(options.eigenvalues)},
       {"report", name_or_null(options.page)},
       {"trace", name_or_null(options.trace)},
       {"states", task.states},
       {"electrons", *options.electrons},
       {"occupied", is_smeared(task) ? ordered_json(task.filled) : ordered_json(task.occupied)},
       {"method", method_name(task)},
       {"smearing", name(options.smearing)},
       {"width", task.width},
       {"energy", outcome.energy},
       {"entropy", entropy_of(options, outcome)},
       {"free_energy", free_energy_of(options, task, outcome)},
       {"spectrum", {outcome.state.problem.spectrum.low, outcome.state.problem.spectrum.high}},
       {"chemical_potential", split || is_smeared(task)
                                  ? ordered_json{outcome.chemical_potentials.low, outcome.chemical_potentials.high}
                                  : ordered_json()},
       // null where only bounds are known, or where the spectrum has no such state
       {"highest_occupied", split && resolved ? number_or_null(outcome.frontier.highest_occupied) : ordered_json()},
       {"lowest_empty", split && resolved ? number_or_null(outcome.frontier.lowest_empty) : ordered_json()},
       {"gap", split && resolved ? number_or_null(gap.high) : ordered_json()},
       {"gap_bounds", split ? ordered_json{gap.low, gap.high} : ordered_json()},
       {"check", "passed"},
       {"trace_error", outcome.trace_error},
       {"idempotency_error", outcome.idempotency_error},
       {"commutator_error", outcome.commutator_error},
       {"iterations", task.by_eigenstates ? 0 : iterates.size() - 1},
       {"iterates", std::move(iterates)},
       {"resumed_at", outcome.resumed_at},
       {"multiplications", outcome.multiplications},
       {"arrangement", outcome.products},
       {"flops_per_second", outcome.product_seconds > 0 ? outcome.flops / outcome.product_seconds : 0.0},
       {"hidden_share", all.under_way > 0 ? ordered_json(outcome.overlap.hidden_share()) : ordered_json()},
       {"received_bytes", outcome.received_bytes},
       {"bound_bytes", outcome.least_bytes},
       {"read_seconds", outcome.read_seconds},
       {"prepare_seconds", outcome.prepare_seconds},
       {"iterate_seconds", outcome.purify_seconds},
       {"check_seconds", outcome.check_seconds},
       {"write_seconds", outcome.write_seconds},
       {"seconds", outcome.seconds},
       {"memory", json_of(outcome.memory)}});
  if (outcome.root) {
    report["inverse_root"] = {{"given", task.inverse_root.has_value()},
                              {"iterations", outcome.root->iterations},
                              {"error", outcome.root->error}};
  }
  return json_line(report);
}

}  // namespace plait::cli
