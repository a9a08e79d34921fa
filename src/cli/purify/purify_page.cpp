#include <algorithm>
#include <cmath>
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
