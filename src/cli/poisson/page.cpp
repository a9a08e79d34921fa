#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/host/text.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/poisson/run.hpp"

namespace plait::cli {

namespace {

std::string convergence_of(const PoissonTask& task, const PoissonOutcome& outcome) {
  if (outcome.errors.empty()) return "<h2>Convergence</h2>\n<p>There was no iteration.</p>\n";
  std::vector<AxisPlot::Point> curve;
  for (const double error : outcome.errors) curve.push_back({static_cast<double>(curve.size() + 1), error});
  std::vector<double> numbers = outcome.errors;
  if (task.tolerance) numbers.push_back(*task.tolerance);
  const bool has_zeros = std::ranges::find(numbers, 0.0) != numbers.end();
  AxisPlot plot({"iteration", Scale::counts, 1, std::max(2.0, static_cast<double>(curve.size()))},
                logarithmic_axis(outcome.norm, numbers, has_zeros), 320,
                fmt::format("The residual after each of {} iterations, on a logarithmic scale", curve.size()));
  if (task.tolerance) plot.level(*task.tolerance, fmt::format("tolerance {:.2g}", *task.tolerance));
  plot.curve("compute", "residual", curve);
  return "<h2>Convergence</h2>\n" + plot.svg() +
         "<p class=\"soft\">What is left of the right side after each iteration, on a logarithmic scale.</p>\n";
}

}  // namespace

void draw_poisson(Report& report, Work& work, const PoissonTask& task, const PoissonOutcome& outcome) {
  const std::string_view status = status_of(outcome.iterated.state.end);
  report.page_head(task.input, fmt::format("{} {}; {}</p>\n<p>{}: {}.", io::to_string(task.input_file.extents),
                                           task.points == poisson::Points::cells ? "cells" : "nodes",
                                           counted(work.context.size(), "rank"), status,
                                           svg::escaped(outcome.iterated.state.reason)));
  report.tile(status, "status");
  report.figure(convergence_of(task, outcome));
  report.figure(outcome.picture.figure("u") +
                (outcome.outside_points == 0 ? ""
                 : task.input_file.extents.dimensions == 1
                     ? "<p class=\"soft\">Points outside of the domain are left out.</p>\n"
                     : "<p class=\"soft\">Points outside of the domain are grey.</p>\n"));
}

}  // namespace plait::cli
