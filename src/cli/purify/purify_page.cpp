#include "cli/purify/purify_page.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

#include "cli/output/quantities.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/purify/purify_report.hpp"
#include "cli/trace/timeline.hpp"

namespace plait::cli {

namespace {

using purify::Iterate;

std::string convergence(const PurifyTask& task, const PurifyOutcome& outcome) {
  std::vector<AxisPlot::Point> idempotency;
  std::vector<AxisPlot::Point> trace;
  std::vector<double> numbers;
  for (const Iterate& iterate : outcome.state.iterates) {
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
         "<p class=\"soft\">By iteration, on a logarithmic scale. It ends where the errors do not fall by order 2 any "
         "more, "
         "which only rounding prevents." +
         (has_zeros ? " Errors of 0 lie on the lower edge." : "") + "</p>\n";
}

std::string occupations(const PurifyOutcome& outcome) {
  const auto& energies = outcome.energies;
  if (energies.empty()) return "<h2>Occupations</h2>\n<p>There are no states.</p>\n";
  std::vector<AxisPlot::Point> points;
  for (std::size_t k = 0; k < energies.size(); ++k) points.push_back({energies[k], outcome.occupations.of_states[k]});
  const double room = energies.front() < energies.back() ? 0 : 0.5;
  AxisPlot plot({"energy, in the units of H", Scale::linear, energies.front() - room, energies.back() + room},
                linear_axis("occupation, without a unit", outcome.occupations.of_states), 320,
                "Occupations of the eigenstates by energy");
  plot.curve("compute", "occupation", points);
  return "<h2>Occupations</h2>\n" + plot.svg() + "<p class=\"soft\">Of all eigenstates, by energy.</p>\n";
}

std::string steps_timeline(const PurifyOutcome& outcome) {
  const report::Trace steps = report::part_of(outcome.trace, outcome.loop_begin, outcome.loop_end);
  const bool is_drawn =
      std::ranges::any_of(steps.ranks, [](const report::RankTrace& rank) { return !rank.recording.runs.empty(); });
  if (!is_drawn) return "<h2>Timeline</h2>\n<p>No schedule ran in the iterations.</p>\n";
  return timeline_section(steps, report::overlap_of(steps).span, "The schedules of all iterations.");
}

PageHead head(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome) {
  return {options.input, options.command,
          fmt::format("{} electrons in {} of {} states, by {}; {}", *options.electrons, task.occupied, task.states,
                      method_name(task), counted(static_cast<Index>(outcome.trace.ranks.size()), "rank"))};
}

std::string tiles(const PurifyTask& task, const PurifyOutcome& outcome) {
  std::string text = "<div class=\"tiles\">\n" + tile(fmt::format("{:.10g}", outcome.energy), "energy");
  if (is_split(task)) text += tile(gap_text(outcome), "gap");
  if (task.by_eigenstates) {
    text += tile(fmt::format("{}", outcome.energies.size()), "eigenstates");
  } else {
    text += tile(fmt::format("{}", outcome.state.iterates.size() - 1), "iterations");
    text += tile(flops_text(outcome), "in products");
  }
  text += tile(hidden_text(outcome), "of the communication hidden under computation");
  return text + "</div>\n";
}

std::string results(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome) {
  std::vector<std::vector<std::string>> rows{{"", "value"}};
  rows.push_back({"tr(DH), times the electrons of a state", fmt::format("{:.12g}", outcome.energy)});
  if (is_smeared(task)) {
    rows.push_back({"chemical potential", fmt::format("{:.8g}", outcome.chemical_potentials.low)});
    rows.push_back({"entropy over Boltzmann's constant", fmt::format("{:.8g}", entropy_of(options, outcome))});
    rows.push_back({"free energy", fmt::format("{:.12g}", free_energy_of(options, task, outcome))});
  }
  if (is_split(task)) {
    rows.push_back({"highest occupied state", highest_occupied_text(outcome)});
    rows.push_back({"lowest empty state", lowest_empty_text(outcome)});
    rows.push_back({"chemical potential", fmt::format("{:.8g} to {:.8g}", outcome.chemical_potentials.low,
                                                      outcome.chemical_potentials.high)});
  }
  rows.push_back({"error of the trace", fmt::format("{:.2e}", outcome.trace_error)});
  if (!is_smeared(task)) {
    rows.push_back({task.overlap ? "‖DSD - D‖" : "‖D² - D‖", fmt::format("{:.2e}", outcome.idempotency_error)});
  }
  rows.push_back({"commutator with H", fmt::format("{:.2e}", outcome.commutator_error)});
  if (!task.by_eigenstates) {
    rows.push_back({"products", fmt::format("{}", outcome.multiplications)});
    rows.push_back({"volume / lower bound", volume_text(outcome)});
  }
  return "<h2>Results</h2>\n" + table(rows);
}

}  // namespace

std::string purify_page(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome) {
  std::vector<std::string> figures{task.by_eigenstates ? occupations(outcome) : convergence(task, outcome)};
  if (!outcome.picture.is_empty()) {
    figures.push_back("<h2>The density matrix</h2>\n" + drawn(outcome.picture, task.is_complex
                                                                                   ? "the density matrix, by their size"
                                                                                   : "the density matrix"));
  }
  figures.push_back(results(options, task, outcome));
  return page(head(options, task, outcome),
              tiles(task, outcome) + side_by_side(figures) + (task.by_eigenstates ? "" : steps_timeline(outcome)));
}

}  // namespace plait::cli
