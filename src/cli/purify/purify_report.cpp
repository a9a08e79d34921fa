#include <numeric>

#include "plait/report/overlap.hpp"

#include "cli/purify/purify_run.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using purify::Interval;
using purify::Iterate;

ordered_json json_of_interval(const Interval& interval) { return {interval.low, interval.high}; }
std::string interval_text(const Interval& interval) {
  return fmt::format("{:.10g} to {:.10g}", interval.low, interval.high);
}

/// What was found, for the summary, the page and --json.
class Findings {
 public:
  Findings(const PurifyTask& task, const PurifyOutcome& outcome) : task_(task), outcome_(outcome) {}

  void report_all(Report& report, Work& work) const {
    report_iterates(report);
    const std::string energy =
        report.fact_in_row("energy", "tr(DH), times the electrons of a state", outcome_.energy, "{:.12g}");
    report.line("energy", energy + (task_.per_state == 2 ? " = 2 tr(D H)" : " = tr(D H)"));
    report.tile(fmt::format("{:.10g}", outcome_.energy), "energy");
    report.fact("spectrum", json_of_interval(outcome_.state.problem.spectrum));
    report_smearing(report);
    report_gap(report);
    if (task_.has_points()) report_points(report);
    report_check(report);
    report_work(report, work);
  }

 private:
  void report_iterates(Report& report) const {
    const auto& iterates = outcome_.state.iterates;
    ordered_json list = ordered_json::array();
    if (!task_.by_eigenstates) {
      report.head(fmt::format("  {:>9}  {:>11}  {:>11}  {:>20}  {:>9}", "iteration", "||X - X\u00b2||", "trace error",
                              "energy", "time"));
    }
    for (const Iterate& iterate : iterates) {
      const double trace_error = iterate.trace - static_cast<double>(task_.occupied);
      const double energy = task_.per_state * iterate.energy;
      report.head(fmt::format("  {:>9}  {:>10.3e}  {:>+11.3e}  {:>20.12g}  {:>9}", list.size(),
                              iterate.idempotency_error, trace_error, energy, seconds_text(iterate.seconds)));
      list.push_back({{"idempotency_error", iterate.idempotency_error},
                      {"trace_error", trace_error},
                      {"energy", energy},
                      {"seconds", iterate.seconds}});
    }
    report.fact("iterations", task_.by_eigenstates ? 0 : iterates.size() - 1);
    report.fact("iterates", list);
  }

  void report_smearing(Report& report) const {
    report.fact("smearing", name(task_.smearing));
    report.fact("width", task_.width);
    const double entropy = report.fact("entropy", task_.per_state * outcome_.filling.occupations.entropy);
    const double free_energy = report.fact("free_energy", outcome_.energy - task_.width * entropy);
    if (!task_.is_smeared()) return;
    const std::string mu = task_.is_partly_filled() ? fmt::format("{:.12g}", outcome_.chemical_potentials.low) : "any";
    const std::string kind = fmt::format("{} of width {:.6g}", name(task_.smearing), task_.width);
    report.line("mu", mu + ", " + kind);
    report.line("entropy", fmt::format("{:.12g} k", entropy));
    report.line("free", fmt::format("{:.12g} = energy - width * entropy / k", free_energy));
    report.row("smearing", kind);
    report.row("chemical potential", mu);
    report.row("entropy over Boltzmann's constant", fmt::format("{:.8g}", entropy));
    report.row("free energy", fmt::format("{:.12g}", free_energy));
  }

  /// What is known of the gap and the states at it: numbers, or intervals where these are not resolved.
  void report_gap(Report& report) const {
    const bool is_split = task_.is_split();
    const purify::Frontier& frontier = outcome_.frontier;
    const Interval gap = frontier.gap();
    const Interval& mu = outcome_.chemical_potentials;
    const bool is_resolved = outcome_.is_gap_resolved();
    const Interval of_highest{frontier.highest_occupied, frontier.highest_occupied + frontier.occupied_error};
    const Interval of_lowest{frontier.lowest_empty - frontier.empty_error, frontier.lowest_empty};
    // Early steps leave bounds of both; their middle is as good as these tell.
    const bool takes_middle = !is_resolved && outcome_.state.began_early();
    const auto number = [&](double value, const Interval& bounds) {
      return !is_split || !(is_resolved || takes_middle)
                 ? ordered_json()
                 : number_or_null(takes_middle ? std::midpoint(bounds.low, bounds.high) : value);
    };
    report.fact("chemical_potential", task_.is_partly_filled() ? json_of_interval(mu) : ordered_json());
    report.fact("highest_occupied", number(frontier.highest_occupied, of_highest));
    report.fact("lowest_empty", number(frontier.lowest_empty, of_lowest));
    report.fact("gap", number(gap.high, gap));
    report.fact("gap_bounds", is_split ? json_of_interval(gap) : ordered_json());
    if (!is_split) return;
    const auto text = [&](double value, const Interval& bounds) {
      return is_resolved ? fmt::format("{:.8g}", value) : interval_text(bounds);
    };
    const std::string its_gap = text(gap.high, gap);
    const std::string highest = text(frontier.highest_occupied, of_highest);
    const std::string lowest = text(frontier.lowest_empty, of_lowest);
    report.line("gap",
                fmt::format("{}: highest occupied {}, lowest empty {}{}", its_gap, highest, lowest,
                            is_resolved                    ? ""
                            : outcome_.state.began_early() ? "; bounds, as far as single precision tells them"
                                                           : "; bounds only, Lanczos did not resolve these states"));
    report.line("mu", interval_text(mu) + ": any chemical potential in between is valid");
    report.tile(its_gap, "gap");
    report.row("highest occupied state", highest);
    report.row("lowest empty state", lowest);
    report.row("chemical potential", fmt::format("{:.8g} to {:.8g}", mu.low, mu.high));
  }

  void report_points(Report& report) const {
    ordered_json list = ordered_json::array();
    for (const PurifiedPoint& point : outcome_.points) {
      list.push_back({{"weight", point.weight},
                      {"electrons", task_.per_state * point.filled},
                      {"energy", task_.per_state * point.energy},
                      {"highest_occupied", number_or_null(point.frontier.highest_occupied)},
                      {"lowest_empty", number_or_null(point.frontier.lowest_empty)},
                      {"ranks", point.ranks}});
    }
    report.fact("points", list);
    report.fact("spins", task_.spins);
    const bool is_split = task_.is_split();
    report.fact("direct_gap", is_split ? number_or_null(outcome_.direct_gap) : ordered_json());
    const auto& [highest, lowest] = outcome_.frontier_points;
    report.fact("gap_points", is_split ? ordered_json{highest, lowest} : ordered_json());
    const auto ranks =
        std::ranges::max(outcome_.points, {}, [](const auto& point) { return point.ranks.size(); }).ranks.size();
    std::string text = fmt::format("{}, each on {}", counted(std::ssize(list), "Hamiltonian"),
                                   ranks == 1 ? "one rank" : fmt::format("at most {} ranks", ranks));
    if (task_.spins == 2) text += ", the first half of one spin";
    if (is_split) {
      text += fmt::format(
          "; highest occupied at point {}, lowest empty at {}, counted from 0; least gap of one point {:.8g}", highest,
          lowest, outcome_.direct_gap);
      report.row("least gap of one point", fmt::format("{:.8g}", outcome_.direct_gap));
    }
    report.line("points", text);
    report.tile(fmt::format("{}", list.size()), "points");
  }

  void report_check(Report& report) const {
    report.fact("check", "passed");
    const double trace = outcome_.errors.trace;
    const double idempotency = outcome_.errors.idempotency;
    const double commutator = outcome_.errors.commutator;
    const std::string squares = task_.overlap ? "DSD - D" : "D\u00b2 - D";
    report.fact_in_row("trace_error", "error of the trace", trace, "{:.2e}");
    report.fact("idempotency_error", idempotency);
    if (!task_.is_smeared()) report.row(fmt::format("‖{}‖", squares), fmt::format("{:.2e}", idempotency));
    report.fact_in_row("commutator_error", "commutator with H", commutator, "{:.2e}");
    report.line("check", fmt::format("passed: trace error {:.1e}, {}commutator with H {:.1e}", trace,
                                     task_.is_smeared() ? "" : fmt::format("||{}|| {:.1e}, ", squares, idempotency),
                                     commutator));
    if (outcome_.root) {
      const bool is_given = report.fact("inverse_root.given", task_.inverse_root.has_value());
      const Index iterations = report.fact("inverse_root.iterations", outcome_.root->iterations);
      report.line("S^(-1/2)", fmt::format("{}, ||I - ZSZ|| {:.1e}",
                                          is_given ? "given" : "found in " + counted(iterations, "iteration"),
                                          report.fact("inverse_root.error", outcome_.root->error)));
    }
  }

  /// What became of steps in single precision.
  void report_precision(Report& report) const {
    const bool goes_on = outcome_.state.began_early();
    const double gap = std::max(outcome_.chemical_potentials.width(), 0.0);
    // ‖D H - H D‖ of a random vector is that of the whole divided by the root of n, on average; a part of D that joins
    // an occupied to an empty state makes as much of the commutator as these are apart, at least the gap.
    const double loss = std::sqrt(static_cast<double>(task_.states)) * outcome_.errors.commutator *
                        outcome_.state.problem.spectrum.width() / gap;
    report.fact("density_error", goes_on && gap > 0 ? ordered_json(loss) : ordered_json());
    std::string what = ", which do not tell the states at the gap apart: D is of double alone";
    if (goes_on)
      what = fmt::format("; D is off by about {:.0e} (root of all squares), its energy right as in double", loss);
    const std::string words = fmt::format("{} products in single precision{}", outcome_.early_multiplications, what);
    report.line("mixed", words);
    report.row("mixed precision", words);
  }

  /// How the work was done, and what it took.
  void report_work(Report& report, Work& work) const {
    const PurifyOutcome& its = outcome_;
    const report::Overlap overlap = report::overlap_of(work.trace());
    const report::RankOverlap all = overlap.sum();
    if (report.fact("resumed_at", its.resumed_at) > 0) {
      report.line("resumed", fmt::format("after iteration {}{}", its.resumed_at,
                                         its.other_ranks ? " on another number of ranks: equal to rounding" : ""));
    }
    const double rate =
        report.fact("flops_per_second", its.product_seconds > 0 ? its.flops / its.product_seconds : 0.0);
    report.fact("precision", task_.is_mixed ? "mixed" : "double");
    report.fact("single_multiplications", its.early_multiplications);
    if (task_.is_mixed && !task_.by_eigenstates) report_precision(report);
    const std::string flops = rate > 0 ? fmt::format("{:.3g} GFlop/s", rate * 1e-9) : "-";
    report.fact("multiplications", its.multiplications);
    report.fact("arrangement", its.products);
    if (task_.by_eigenstates) {
      report.tile(fmt::format("{}", its.energies.size()), "eigenstates");
    } else {
      report.line("products", fmt::format("{} in the iterations, {}; {}", its.multiplications, flops, its.products));
      report.tile(fmt::format("{}", its.state.iterates.size() - 1), "iterations");
      report.tile(flops, "in products");
    }
    // Of all ranks and from the first read to the last check, not of the products alone.
    const bool any = all.under_way > 0;
    const std::string hidden = percent_text(static_cast<double>(all.hidden), static_cast<double>(all.under_way));
    report.fact("hidden_share", any ? std::optional(overlap.hidden_share()) : std::nullopt);
    const auto& within = its.state.problem.frontier_within;
    report.fact("frontier_within", within ? json_of_interval(*within) : ordered_json());
    if (!task_.start.empty()) {
      report.line("start", task_.start + ": " +
                               (task_.by_eigenstates ? "not looked at, as eigenstates take less time here than tc2"
                                : within             ? "the states at the gap are within " + interval_text(*within)
                                                     : "tells nothing of H"));
    }
    report.line("overlap",
                any ? hidden + " of communication hidden" : "nothing to hide: no message between ranks was under way");
    if (any) report.tile(hidden, "of the communication hidden under computation");
    report.fact("received_bytes", its.received_bytes);
    report.fact("bound_bytes", its.least_bytes);
    const bool has_moved = its.least_bytes > 0 && its.received_bytes > 0;
    const std::string volume =
        has_moved ? fmt::format("{:.3g}", static_cast<double>(its.received_bytes) / its.least_bytes) : "-";
    if (has_moved) {
      report.line("moved",
                  fmt::format("at most {} to a rank, {}× the lower bound", bytes_text(its.received_bytes), volume));
    }
    if (!task_.by_eigenstates) {
      report.row("products", fmt::format("{}", its.multiplications));
      report.row("volume / lower bound", volume);
    }
    report.line("memory", fmt::format("{} on the largest rank, estimated",
                                      bytes_text(report.fact("memory", work.memory).largest_rank)));
    for (const std::string& path : {task_.output, task_.energy_weighted, task_.eigenvalues}) {
      if (!path.empty()) report.line("wrote", path);
    }
    if (!work.settings.page.empty()) report.line("report", work.settings.page);
    if (!work.settings.trace.empty()) report.line("trace", work.settings.trace);
    report.line("total", fmt::format("{}: read {}, {} {}, {} {}, checked {}, wrote {}",
                                     seconds_text(report.fact("seconds", work.seconds)),
                                     seconds_text(report.fact("read_seconds", its.read_seconds)),
                                     task_.by_eigenstates ? "eigenstates" : "prepared",
                                     seconds_text(report.fact("prepare_seconds", its.prepare_seconds)),
                                     task_.by_eigenstates ? "summed up" : "iterated",
                                     seconds_text(report.fact("iterate_seconds", its.purify_seconds)),
                                     seconds_text(report.fact("check_seconds", its.check_seconds)),
                                     seconds_text(report.fact("write_seconds", its.write_seconds))));
  }

  const PurifyTask& task_;
  const PurifyOutcome& outcome_;
};

}  // namespace

void report_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome) {
  Findings(task, outcome).report_all(report, work);
}

}  // namespace plait::cli
