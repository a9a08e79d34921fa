#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "plait/report/overlap.hpp"

#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/page.hpp"
#include "cli/purify/purify_run.hpp"
#include "cli/trace/timeline.hpp"

namespace plait::cli {

namespace {

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
  const purify::Occupation all = state.occupation();
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
    const purify::Occupation some{
        all.shift, all.slope, {all.steps.begin(), all.steps.begin() + static_cast<std::ptrdiff_t>(steps)}};
    std::vector<AxisPlot::Point> points;
    for (const double energy : energies) points.push_back({energy, some.of(energy)});
    plot.curve(mark, fmt::format("occupation after {} iterations", steps), points);
  };
  const std::size_t count = all.steps.size();
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
  const purify::Interval falling = state.problem.frontier_bounds();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr double undecided = 0.1;
  const double least = state.began_early() ? 1e-3 : 1e-10;  // errors below consist of rounding
  std::vector<AxisPlot::Point> window, gap;
  std::vector<double> numbers{spectrum.width()};
  purify::Occupation so_far{state.shift, state.slope, {}};
  for (const purify::Iterate& iterate : state.iterates) {
    const auto add = [&](std::vector<AxisPlot::Point>& to, bool is_known, double width) {
      to.push_back({static_cast<double>(to.size()), is_known && width > 0 ? width : none});
      numbers.push_back(to.back().y);
    };
    add(window, true, so_far.energy_of(undecided, falling) - so_far.energy_of(1 - undecided, falling));
    add(gap, iterate.settled,
        purify::energies_of_no_state(so_far, std::max(iterate.idempotency_error, least), falling).width());
    so_far.steps.push_back(iterate.step);
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

void draw_purification(Report& report, Work& work, const PurifyTask& task, const PurifyOutcome& outcome) {
  report.page_head(task.input, fmt::format("{} electrons in {}, by {}; {}", *task.electrons, task.states_text(),
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
