#include <limits>
#include <numeric>

#include "plait/report/overlap.hpp"

#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/purify/purify_run.hpp"
#include "cli/trace/timeline.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using purify::Interval;
using purify::Iterate;

ordered_json json_of_interval(const Interval& interval) { return {interval.low, interval.high}; }
std::string interval_text(const Interval& interval) {
  return fmt::format("{:.10g} to {:.10g}", interval.low, interval.high);
}

void report_iterates(Report& report, const PurifyTask& task, const PurifyOutcome& outcome) {
  const auto& iterates = outcome.state.iterates;
  ordered_json list = ordered_json::array();
  if (!task.by_eigenstates) {
    report.head("  {:>9}  {:>11}  {:>11}  {:>20}  {:>9}", "iteration", "||X - X\u00b2||", "trace error", "energy",
                "time");
  }
  for (const Iterate& iterate : iterates) {
    const double trace_error = iterate.trace - static_cast<double>(task.occupied);
    const double energy = task.per_state * iterate.energy;
    report.head("  {:>9}  {:>10.3e}  {:>+11.3e}  {:>20.12g}  {:>9}", list.size(), iterate.idempotency_error,
                trace_error, energy, seconds_text(iterate.seconds));
    list.push_back({{"idempotency_error", iterate.idempotency_error},
                    {"trace_error", trace_error},
                    {"energy", energy},
                    {"seconds", iterate.seconds}});
  }
  report.fact("iterations", task.by_eigenstates ? 0 : iterates.size() - 1);
  report.fact("iterates", list);
}

void report_smearing(Report& report, const PurifyTask& task, const PurifyOutcome& outcome) {
  report.fact("smearing", name(task.smearing));
  report.fact("width", task.width);
  const double entropy = report.fact("entropy", task.per_state * outcome.filling.occupations.entropy);
  const double free_energy = report.fact("free_energy", outcome.energy - task.width * entropy);
  if (!task.is_smeared()) return;
  const std::string mu = task.is_partly_filled() ? fmt::format("{:.12g}", outcome.chemical_potentials.low) : "any";
  const std::string kind = fmt::format("{} of width {:.6g}", name(task.smearing), task.width);
  report.line("mu", mu + ", " + kind);
  report.line("entropy", "{:.12g} k", entropy);
  report.line("free", "{:.12g} = energy - width * entropy / k", free_energy);
  report.row("smearing", kind);
  report.row("chemical potential", mu);
  report.row("entropy over Boltzmann's constant", "{:.8g}", entropy);
  report.row("free energy", "{:.12g}", free_energy);
}

/// What is known of the gap and the states at it: numbers, or intervals where these are not resolved.
void report_gap(Report& report, const PurifyTask& task, const PurifyOutcome& outcome) {
  const bool is_split = task.is_split();
  const purify::Frontier& frontier = outcome.frontier;
  const Interval gap = frontier.gap();
  const Interval& mu = outcome.chemical_potentials;
  const bool is_resolved = outcome.is_gap_resolved();
  const Interval of_highest{frontier.highest_occupied, frontier.highest_occupied + frontier.occupied_error};
  const Interval of_lowest{frontier.lowest_empty - frontier.empty_error, frontier.lowest_empty};
  // Early steps leave bounds of both; their middle is as good as these tell.
  const bool takes_middle = !is_resolved && outcome.state.began_early();
  const auto number = [&](double value, const Interval& bounds) {
    return !is_split || !(is_resolved || takes_middle)
               ? ordered_json()
               : number_or_null(takes_middle ? std::midpoint(bounds.low, bounds.high) : value);
  };
  report.fact("chemical_potential", task.is_partly_filled() ? json_of_interval(mu) : ordered_json());
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
  report.line("gap", "{}: highest occupied {}, lowest empty {}{}", its_gap, highest, lowest,
              is_resolved                   ? ""
              : outcome.state.began_early() ? "; bounds, as far as single precision tells them"
                                            : "; bounds only, Lanczos did not resolve these states");
  report.line("mu", interval_text(mu) + ": any chemical potential in between is valid");
  report.tile(its_gap, "gap");
  report.row("highest occupied state", highest);
  report.row("lowest empty state", lowest);
  report.row("chemical potential", "{:.8g} to {:.8g}", mu.low, mu.high);
}

void report_points(Report& report, const PurifyTask& task, const PurifyOutcome& outcome) {
  ordered_json list = ordered_json::array();
  for (const PurifiedPoint& point : outcome.points) {
    list.push_back({{"weight", point.weight},
                    {"electrons", task.per_state * point.filled},
                    {"energy", task.per_state * point.energy},
                    {"highest_occupied", number_or_null(point.frontier.highest_occupied)},
                    {"lowest_empty", number_or_null(point.frontier.lowest_empty)},
                    {"ranks", point.ranks}});
  }
  report.fact("points", list);
  report.fact("spins", task.spins);
  const bool is_split = task.is_split();
  report.fact("direct_gap", is_split ? number_or_null(outcome.direct_gap) : ordered_json());
  const auto& [highest, lowest] = outcome.frontier_points;
  report.fact("gap_points", is_split ? ordered_json{highest, lowest} : ordered_json());
  const auto ranks =
      std::ranges::max(outcome.points, {}, [](const auto& point) { return point.ranks.size(); }).ranks.size();
  std::string text = fmt::format("{}, each on {}", counted(std::ssize(list), "Hamiltonian"),
                                 ranks == 1 ? "one rank" : fmt::format("at most {} ranks", ranks));
  if (task.spins == 2) text += ", the first half of one spin";
  if (is_split) {
    text +=
        fmt::format("; highest occupied at point {}, lowest empty at {}, counted from 0; least gap of one point {:.8g}",
                    highest, lowest, outcome.direct_gap);
    report.row("least gap of one point", "{:.8g}", outcome.direct_gap);
  }
  report.line("points", text);
  report.tile(fmt::format("{}", list.size()), "points");
}

void report_check(Report& report, const PurifyTask& task, const PurifyOutcome& outcome) {
  report.fact("check", "passed");
  const double trace = outcome.errors.trace;
  const double idempotency = outcome.errors.idempotency;
  const double commutator = outcome.errors.commutator;
  const std::string squares = task.overlap ? "DSD - D" : "D\u00b2 - D";
  report.fact_in_row("trace_error", "error of the trace", trace, "{:.2e}");
  report.fact("idempotency_error", idempotency);
  if (!task.is_smeared()) report.row(fmt::format("‖{}‖", squares), fmt::format("{:.2e}", idempotency));
  report.fact_in_row("commutator_error", "commutator with H", commutator, "{:.2e}");
  report.line("check", "passed: trace error {:.1e}, {}commutator with H {:.1e}", trace,
              task.is_smeared() ? "" : fmt::format("||{}|| {:.1e}, ", squares, idempotency), commutator);
  if (outcome.root) {
    const bool is_given = report.fact("inverse_root.given", bool{task.inverse_root});
    const Index iterations = report.fact("inverse_root.iterations", outcome.root->iterations);
    report.line("S^(-1/2)", "{}, ||I - ZSZ|| {:.1e}",
                is_given ? "given" : "found in " + counted(iterations, "iteration"),
                report.fact("inverse_root.error", outcome.root->error));
  }
}

/// What became of steps in single precision.
void report_precision(Report& report, const PurifyTask& task, const PurifyOutcome& outcome) {
  const bool goes_on = outcome.state.began_early();
  const double gap = std::max(outcome.chemical_potentials.width(), 0.0);
  // ‖D H - H D‖ of a random vector is that of the whole divided by the root of n, on average; a part of D that joins
  // an occupied to an empty state makes as much of the commutator as these are apart, at least the gap.
  const double loss = std::sqrt(static_cast<double>(task.states)) * outcome.errors.commutator *
                      outcome.state.problem.spectrum.width() / gap;
  report.fact("density_error", goes_on && gap > 0 ? ordered_json(loss) : ordered_json());
  std::string what = ", which do not tell the states at the gap apart: D is of double alone";
  if (goes_on)
    what = fmt::format("; D is off by some {:.0e} or less (root of all squares), its energy right as in double", loss);
  const std::string words = fmt::format("{} products in single precision{}", outcome.early_multiplications, what);
  report.line("mixed", words);
  report.row("mixed precision", words);
}

/// What `auto` chose among.
void report_choice(Report& report, const Work& work, const PurifyTask& task, const PurifyOutcome& outcome) {
  if (task.ways.empty()) return;
  ordered_json seconds;
  std::string text;
  for (const purify::Way& way : task.ways) {
    seconds[std::string(name(way))] = way.seconds;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(way), seconds_text(way.seconds));
  }
  report.fact("estimated_seconds", seconds);
  report.fact("left_after", outcome.left_after);
  report.fact("seconds_left", outcome.left_after > 0 ? ordered_json(outcome.seconds_left) : ordered_json());
  if (outcome.left_after > 0) {
    text += fmt::format("; after {} of {}, by their time and the gap {} more: took eigen",
                        counted(outcome.left_after, "step"), name(task.method), seconds_text(outcome.seconds_left));
  }
  text += "; machine: " + report.fact("machine", work.context.machine().description);
  report.line("estimated", text);
  report.row("estimated", svg::escaped(text));
}

/// How the work was done, and what it took.
void report_work(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome) {
  const report::Overlap overlap = report::overlap_of(work.trace());
  const report::RankOverlap all = overlap.sum();
  if (report.fact("resumed_at", outcome.resumed_at) > 0) {
    report.line("resumed", "after iteration {}{}", outcome.resumed_at,
                outcome.other_ranks ? " on another number of ranks: equal to rounding" : "");
  }
  const double rate =
      report.fact("flops_per_second", outcome.product_seconds > 0 ? outcome.flops / outcome.product_seconds : 0.0);
  report.fact("precision", task.is_mixed ? "mixed" : "double");
  report.fact("single_multiplications", outcome.early_multiplications);
  if (task.is_mixed && !task.by_eigenstates) report_precision(report, task, outcome);
  const std::string flops = rate > 0 ? fmt::format("{:.3g} GFlop/s", rate * 1e-9) : "-";
  report_choice(report, work, task, outcome);
  report.fact("multiplications", outcome.multiplications);
  report.fact("arrangement", outcome.products);
  if (task.by_eigenstates) {
    report.tile(fmt::format("{}", outcome.energies.size()), "eigenstates");
  } else {
    report.line("products", "{} in the iterations, {}; {}", outcome.multiplications, flops, outcome.products);
    report.tile(fmt::format("{}", outcome.state.iterates.size() - 1), "iterations");
    report.tile(flops, "in products");
  }
  // Of all ranks and from the first read to the last check, not of the products alone.
  const bool any = all.under_way > 0;
  const std::string hidden = percent_text(static_cast<double>(all.hidden), static_cast<double>(all.under_way));
  report.fact("hidden_share", any ? std::optional(overlap.hidden_share()) : std::nullopt);
  const auto& within = outcome.state.problem.frontier_within;
  report.fact("frontier_within", within ? json_of_interval(*within) : ordered_json());
  if (task.start) {
    const bool is_used = !task.by_eigenstates || outcome.left_after > 0;
    const std::string left =
        outcome.left_after > 0
            ? fmt::format("; {} left after {} for eigenstates", name(task.method), counted(outcome.left_after, "step"))
            : "";
    report.line("start", task.start.path + ": " +
                             (!is_used ? "not looked at, as eigenstates are estimated to take less time than tc2"
                              : within ? "the states at the gap are within " + interval_text(*within)
                                       : "tells nothing of H") +
                             left);
  }
  report.line("overlap", any ? hidden + " of communication hidden"
                             : "nothing to hide: ranks exchanged nothing, or by the memory of their node");
  if (any) report.tile(hidden, "of the communication hidden under computation");
  report.fact("received_bytes", outcome.received_bytes);
  report.fact("bound_bytes", outcome.least_bytes);
  const bool has_moved = outcome.least_bytes > 0 && outcome.received_bytes > 0;
  const std::string volume =
      has_moved ? fmt::format("{:.3g}", static_cast<double>(outcome.received_bytes) / outcome.least_bytes) : "-";
  if (has_moved) {
    report.line("moved", "at most {} to a rank, {}× the lower bound", bytes_text(outcome.received_bytes), volume);
  }
  if (!task.by_eigenstates) {
    report.row("products", "{}", outcome.multiplications);
    report.row("volume / lower bound", volume);
  }
  report.line("memory", "{} on the largest rank, estimated",
              bytes_text(report.fact("memory", work.memory).largest_rank));
  for (const std::string& path : {task.output, task.energy_weighted, task.eigenvalues}) {
    if (!path.empty()) report.line("wrote", path);
  }
  report.line(
      "total", "{}: read {}, {} {}, {} {}, checked {}, wrote {}", seconds_text(report.fact("seconds", work.seconds)),
      seconds_text(report.fact("read_seconds", outcome.read_seconds)), task.by_eigenstates ? "eigenstates" : "prepared",
      seconds_text(report.fact("prepare_seconds", outcome.prepare_seconds)),
      task.by_eigenstates ? "summed up" : "iterated",
      seconds_text(report.fact("iterate_seconds", outcome.purify_seconds)),
      seconds_text(report.fact("check_seconds", outcome.check_seconds)),
      seconds_text(report.fact("write_seconds", outcome.write_seconds)));
}

std::string convergence(const PurifyTask& task, const PurifyOutcome& outcome) {
  std::vector<AxisPlot::Point> idempotency;
  std::vector<AxisPlot::Point> trace;
  std::vector<double> numbers;
  for (const purify::Iterate& iterate : outcome.state.iterates) {
    const auto step = static_cast<double>(idempotency.size());
    idempotency.push_back({step, iterate.idempotency_error});
    trace.push_back({step, std::abs(iterate.trace - static_cast<double>(task.occupied))});
    numbers.insert(numbers.end(), {idempotency.back().y, trace.back().y});
  }
  const bool has_zeros = std::ranges::find(numbers, 0.0) != numbers.end();
  AxisPlot plot({"iteration", Scale::counts, 0, std::max(1.0, static_cast<double>(idempotency.size()) - 1)},
                logarithmic_axis("error, without a unit", numbers, has_zeros), 320,
                "Errors by iteration, on a logarithmic scale");
  plot.curve("network", "|tr(X) - occupied|", trace);
  plot.curve("compute", "‖X - X²‖", idempotency);
  return "<h2>Convergence</h2>\n<p>" + key("compute", "‖X - X²‖") + key("network", "|tr(X) - occupied states|") +
         "</p>\n" + plot.svg() +
         "<p class=\"soft\">By iteration, on a logarithmic scale. It ends where the errors do not fall by order 2 "
         "any more, which only rounding prevents." +
         (has_zeros ? " Errors of 0 lie on the lower edge." : "") + "</p>\n";
}

/// What the steps made of energies: after all of them, and after a part.
std::string occupations_of_steps(const purify::State& state, double mu) {
  const purify::Interval spectrum = state.problem.spectrum;
  std::vector<double> energies;
  constexpr int parts = 240;
  for (int i = 0; i <= parts; ++i) energies.push_back(spectrum.low + spectrum.width() * i / parts);
  for (double off = spectrum.width() / 10; off > 1e-14 * spectrum.width(); off /= 1.5) {
    for (const double energy : {mu - off, mu + off}) {
      if (energy > spectrum.low && energy < spectrum.high) energies.push_back(energy);
    }
  }
  std::ranges::sort(energies);
  AxisPlot plot({"energy, in the units of H", Scale::linear, spectrum.low, spectrum.high},
                {"occupation, without a unit", Scale::linear, -0.02, 1.05}, 320,
                "Occupations by energy, after some iterations");
  plot.boundary(mu, "µ", spectrum.high);
  const auto curve = [&](std::string_view mark, std::size_t steps) {
    const purify::Occupation some = state.occupation_after(steps);
    std::vector<AxisPlot::Point> points;
    for (const double energy : energies) points.push_back({energy, some.of(energy)});
    plot.curve(mark, fmt::format("occupation after {} iterations", steps), points);
  };
  const std::size_t count = state.iterates.size() - 1;
  if (count >= 3) curve("peer", count / 3);
  if (count >= 3) curve("network", 2 * count / 3);
  curve("compute", count);
  return "<h2>Occupations</h2>\n<p>" + key("compute", "in the end") +
         (count >= 3 ? key("network", fmt::format("after {} iterations", 2 * count / 3)) +
                           key("peer", fmt::format("after {}", count / 3))
                     : "") +
         "</p>\n" + plot.svg() +
         "<p class=\"soft\">What the iterates have as eigenvalue for each energy of the spectrum. Dotted: the middle "
         "of the gap, a "
         "chemical potential µ.</p>\n";
}

/// The energies that the steps so far tell nothing of, and those that have no state, by iteration.
std::string bounds_by_step(const PurifyOutcome& outcome) {
  const purify::State& state = outcome.state;
  const purify::Interval spectrum = state.problem.spectrum;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr double undecided = 0.1;
  std::vector<AxisPlot::Point> window, gap;
  std::vector<double> numbers{spectrum.width()};
  const auto add = [&](std::vector<AxisPlot::Point>& to, double width) {
    to.push_back({static_cast<double>(to.size()), width > 0 ? width : none});
    numbers.push_back(to.back().y);
  };
  for (std::size_t i = 0; i < state.iterates.size(); ++i) {
    const purify::Interval& falling = state.iterates[i].frontier;
    const purify::Occupation so_far = state.occupation_after(i);
    add(window, so_far.energy_of(undecided, falling) - so_far.energy_of(1 - undecided, falling));
    add(gap, state.chemical_potentials_of(i).width());
  }
  AxisPlot plot({"iteration", Scale::counts, 0, std::max(1.0, static_cast<double>(window.size()) - 1)},
                logarithmic_axis("width, in the units of H", numbers, false), 320,
                "Widths of intervals of energies, by iteration");
  plot.level(spectrum.width(), "spectrum");
  plot.curve("compute", "width of the energies between 0.9 and 0.1 occupied", window);
  plot.curve("combine", "width of the energies without a state", gap);
  const purify::Interval mu = outcome.chemical_potentials;
  return "<h2>Bounds of energies</h2>\n<p>" + key("compute", "from 0.9 to 0.1 occupied") +
         key("combine", "proved to have no state") + "</p>\n" + plot.svg() +
         fmt::format(
             "<p class=\"soft\">Widths by iteration, on a logarithmic scale: of the energies that the steps so far "
             "leave "
             "undecided, and of those between the occupied and the empty states, from where each iterate is settled. "
             "All of "
             "them prove that there is no state from {:.8g} to {:.8g}. The spectrum is within {:.8g} and {:.8g}.</p>\n",
             mu.low, mu.high, spectrum.low, spectrum.high);
}

std::string occupations(const PurifyTask& task, const PurifyOutcome& outcome) {
  const auto& energies = outcome.energies;
  if (energies.empty()) return "<h2>Occupations</h2>\n<p>There are no states.</p>\n";
  std::vector<AxisPlot::Point> points;
  for (std::size_t k = 0; k < energies.size(); ++k)
    points.push_back({energies[k], outcome.filling.occupations.of_states[k]});
  const bool has_mu = task.is_partly_filled();
  const double mu = std::midpoint(outcome.chemical_potentials.low, outcome.chemical_potentials.high);
  const double low = has_mu ? std::min(energies.front(), mu) : energies.front();
  const double high = has_mu ? std::max(energies.back(), mu) : energies.back();
  const double room = low < high ? 0 : 0.5;
  AxisPlot plot({"energy, in the units of H", Scale::linear, low - room, high + room},
                linear_axis("occupation, without a unit", outcome.filling.occupations.of_states), 320,
                "Occupations of the eigenstates by energy");
  if (has_mu) plot.boundary(mu, "µ", high);
  plot.curve("compute", "occupation", points);
  const std::string_view of_mu = !has_mu             ? ""
                                 : task.is_smeared() ? " Dotted: the chemical potential µ."
                                                     : " Dotted: the middle of the gap, a chemical potential µ.";
  return "<h2>Occupations</h2>\n" + plot.svg() +
         fmt::format("<p class=\"soft\">Of all eigenstates, by energy.{}</p>\n", of_mu);
}

}  // namespace

void report_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome) {
  report_iterates(report, task, outcome);
  const std::string energy =
      report.fact_in_row("energy", "tr(DH), times the electrons of a state", outcome.energy, "{:.12g}");
  report.line("energy", energy + (task.per_state == 2 ? " = 2 tr(D H)" : " = tr(D H)"));
  report.tile(fmt::format("{:.10g}", outcome.energy), "energy");
  report.fact("spectrum", json_of_interval(outcome.state.problem.spectrum));
  report_smearing(report, task, outcome);
  report_gap(report, task, outcome);
  if (task.has_points()) report_points(report, task, outcome);
  report_check(report, task, outcome);
  report_work(report, work, task, outcome);
}

void draw_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome) {
  report.page_head(task.input.path, fmt::format("{} electrons in {}, by {}; {}", *task.electrons, task.states_text(),
                                                task.method_name(), counted(work.context.size(), "rank")));
  report.figure(task.by_eigenstates ? occupations(task, outcome) : convergence(task, outcome));
  const double mu = std::midpoint(outcome.chemical_potentials.low, outcome.chemical_potentials.high);
  if (!task.by_eigenstates && task.is_split()) {
    report.figure(bounds_by_step(outcome));
    report.figure(occupations_of_steps(outcome.state, mu));
  }
  if (!outcome.picture.is_empty()) {
    report.figure(fmt::format("<h2>The density matrix{}</h2>\n", task.has_points() ? " of the first point" : "") +
                  drawn(outcome.picture, task.is_complex ? "the density matrix, by their size" : "the density matrix"));
  }
  if (task.by_eigenstates) return;
  const report::Trace steps = report::part_of(work.trace(), outcome.loop_begin, outcome.loop_end);
  const bool is_drawn =
      std::ranges::any_of(steps.ranks, [](const report::RankTrace& rank) { return !rank.recording.runs.empty(); });
  report.section(is_drawn ? timeline_section(steps, report::overlap_of(steps).span, "The schedules of all iterations.")
                          : "<h2>Timeline</h2>\n<p>No schedule ran in the iterations.</p>\n");
}

}  // namespace plait::cli
