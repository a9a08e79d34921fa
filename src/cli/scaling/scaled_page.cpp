#include "cli/scaling/scaled_page.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/model/machine.hpp"
#include "plait/report/overlap.hpp"

#include "cli/output/quantities.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/scaling/epsilon_options.hpp"
#include "cli/trace/timeline.hpp"
#include "cli/trace/trace_summary.hpp"

namespace plait::cli {

namespace {

using PlotPoints = std::vector<AxisPlot::Point>;

/// The iterations as the page tells of them: those of the last stage before a checkpoint, too.
std::vector<std::vector<double>> errors_of(const ScaledOutcome& outcome) {
  auto errors = outcome.log.errors;
  const auto& last = outcome.outcome.errors;
  if (errors.size() <= 1 && last.size() > (errors.empty() ? 0 : errors[0].size())) return {last};
  return errors;
}

/// Whether each vector of errors is that of one of the last stages. If a run went on from a checkpoint, the first may
/// lack some.
bool are_stages(const std::vector<std::vector<double>>& errors, const std::vector<sinkhorn::TransportStage>& stages,
                bool is_resumed) {
  if (errors.size() > stages.size()) return false;
  const std::size_t before = stages.size() - errors.size();
  if (before > 0 && !is_resumed) return false;
  for (std::size_t k = 0; k < errors.size(); ++k) {
    const auto count = static_cast<Index>(errors[k].size());
    if (is_resumed && k == 0 ? count > stages[before].iterations : count != stages[before + k].iterations) return false;
  }
  return true;
}

/// "1e-9"
std::string short_text(double number) {
  std::string text = fmt::format("{:.2g}", number);
  if (const auto zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
  return text;
}

std::string convergence_section(const ScaledOptions& options, const ScaledOutcome& outcome, const PageFacts& facts) {
  const auto errors = errors_of(outcome);
  if (errors.empty()) return "<h2>Convergence</h2>\n<p>There was no iteration.</p>\n";
  const double tolerance = tolerance_of(options, outcome.precision);
  std::vector<double> numbers{tolerance};
  PlotPoints points;
  std::vector<std::pair<double, std::size_t>> begins;
  bool has_zeros = tolerance == 0;
  for (std::size_t k = 0; k < errors.size(); ++k) {
    begins.emplace_back(static_cast<double>(points.size()) + 0.5, k);
    for (const double error : errors[k]) {
      points.push_back({static_cast<double>(points.size() + 1), error});
      numbers.push_back(error);
      has_zeros = has_zeros || error == 0;
    }
  }
  const double last = std::max(static_cast<double>(points.size()), 2.0);
  AxisPlot plot({"iteration", Scale::counts, 0, last},
                logarithmic_axis("error, as a part of the sum of all", numbers, has_zeros), 320,
                fmt::format("Error after each of {} iterations, on a logarithmic scale", points.size()));
  plot.level(tolerance, "tolerance " + short_text(tolerance));
  const bool known = are_stages(errors, facts.stages, outcome.resumed_at > 0 || outcome.log.first > 1);
  const std::size_t before = known ? facts.stages.size() - errors.size() : 0;
  for (std::size_t k = 0; k < begins.size() && begins.size() > 1; ++k) {
    const double next = k + 1 < begins.size() ? begins[k + 1].first : last;
    plot.boundary(begins[k].first, known ? fmt::format("epsilon {:.3g}", facts.stages[before + k].epsilon) : "", next);
  }
  plot.curve("compute", "error", points);
  std::string text =
      "<h2>Convergence</h2>\n" + plot.svg() +
      "<p class=\"soft\">After each iteration, on a logarithmic scale: what sums are off by, added up and divided by "
      "the sum of all that is wanted.";
  if (begins.size() > 1) {
    text += fmt::format(
        " Dotted lines: {}{}", facts.next_stage,
        known ? ". All epsilons but the last one are gone through roughly." : ", or the same one anew in logarithms.");
  }
  if (before > 0) text += " Larger epsilons, which the run before went through, are not drawn.";
  if (has_zeros) text += " Errors of 0 lie on the lower edge.";
  if (points.size() > 1300) text += " Of iterations that share a pixel the lowest and the highest error are drawn.";
  text += "</p>\n";
  if (facts.stages.size() > 1) {
    std::vector<std::vector<std::string>> rows{{"epsilon", "iterations", "method"}};
    for (const auto& stage : facts.stages) {
      rows.push_back(
          {fmt::format("{:.6g}", stage.epsilon), fmt::format("{}", stage.iterations), std::string(name(stage.domain))});
    }
    text += table(rows);
  }
  return text;
}

double middle_of(const SumsSketch& sums, Index bin) {
  const Index end = bin + 1 < sums.bins() ? sums.begin_of(bin + 1) : sums.length();
  return static_cast<double>(sums.begin_of(bin) + end - 1) / 2;
}

PlotAxis axis_across(const SumsSketch& sums, const std::string& what) {
  return {what + ", counted from 0", Scale::counts, 0, std::max(1.0, static_cast<double>(sums.length() - 1))};
}

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// Wanted and reached sums over their numbers, and what they differ by.
std::string sums_plots(const SumsSketch& sums, const std::string& what, const std::string& aim) {
  if (sums.length() == 0) return fmt::format("<p>There are no {}s.</p>\n", what);
  std::vector<double> numbers;
  std::vector<double> differences;
  PlotPoints wanted, wanted_least, wanted_most, reached, reached_least, reached_most, off;
  bool has_zeros = false;
  for (Index bin = 0; bin < sums.bins(); ++bin) {
    const SumsSketch::Bin each = sums[bin];
    const double x = middle_of(sums, bin);
    wanted.push_back({x, each.wanted.mean});
    wanted_least.push_back({x, each.wanted.least});
    wanted_most.push_back({x, each.wanted.largest});
    reached.push_back({x, each.reached.mean});
    reached_least.push_back({x, each.reached.least});
    reached_most.push_back({x, each.reached.largest});
    off.push_back({x, each.off});
    numbers.insert(numbers.end(), {each.wanted.least, each.wanted.largest, each.reached.least, each.reached.largest});
    differences.push_back(each.off);
    has_zeros = has_zeros || each.off == 0;
  }
  const bool is_thinned = sums.bins() < sums.length();
  const PlotAxis across = axis_across(sums, what);
  AxisPlot plot(across, linear_axis("sum of a " + what, numbers), 230,
                fmt::format("{} and reached sums of {} {}s", capitalised(aim), sums.length(), what));
  if (is_thinned) {
    plot.band("wait", wanted_least, wanted_most);
    plot.band("compute", reached_least, reached_most);
  }
  plot.curve("wait", aim, wanted, AxisPlot::Line::broad);
  plot.curve("compute", "reached", reached);
  const auto [least, most] = std::ranges::minmax(numbers);
  constexpr double alike = 0.01;  // beyond which a plot has something to show
  const bool is_flat = most - least <= alike * most;
  std::string text = is_flat ? "" : plot.svg();
  const double largest_off = std::ranges::max(differences);
  if (largest_off == 0) return text + fmt::format("<p>All {}s have exactly the {} sums.</p>\n", what, aim);
  if (is_flat) {
    text += fmt::format("<p>All {}s are to have the sum {:.6g}, and have it to within {:.1g}.</p>\n", what, numbers[0],
                        largest_off);
  }
  AxisPlot below(
      across, logarithmic_axis(fmt::format("|reached - {}|", aim), differences, has_zeros), 180,
      fmt::format("Differences of {} and reached sums of {} {}s, on a logarithmic scale", aim, sums.length(), what));
  below.curve("network", "difference", off);
  return text + below.svg();
}

/// Masses that were found, where nobody knows which ones are wanted.
std::string masses_section(const SumsSketch& masses) {
  std::vector<double> numbers;
  PlotPoints means, least, most;
  for (Index bin = 0; bin < masses.bins(); ++bin) {
    const SumsSketch::Range each = masses[bin].reached;
    const double x = middle_of(masses, bin);
    means.push_back({x, each.mean});
    least.push_back({x, each.least});
    most.push_back({x, each.largest});
    numbers.insert(numbers.end(), {each.least, each.largest});
  }
  AxisPlot plot(axis_across(masses, "row"), linear_axis("mass", numbers), 280,
                fmt::format("The masses of {} rows", masses.length()));
  const bool is_thinned = masses.bins() < masses.length();
  if (is_thinned) plot.band("compute", least, most);
  plot.curve("compute", "mass", means);
  std::string text = "<h2>The barycentre</h2>\n" + plot.svg() + "<p class=\"soft\">In the unit of the histograms.";
  if (is_thinned) {
    text += fmt::format(" {} groups of neighbours are drawn: means, and from the least to the largest.", masses.bins());
  }
  return text + "</p>\n";
}

std::string sums_section(const PlanSketch& sketch, const PageFacts& facts) {
  std::string text = fmt::format("<h2>Sums of {}s{}</h2>\n<p>", facts.sums[0],
                                 facts.sums.size() > 1 ? fmt::format(" and {}s", facts.sums[1]) : "");
  const bool are_alike = facts.aims[0] == facts.aims[1];
  text += key("wait", are_alike ? facts.aims[0]
                                : fmt::format("{} of {}s, {} of {}s", facts.aims[0], facts.sums[0], facts.aims[1],
                                              facts.sums[1])) +
          key("compute", "reached") + key("network", "difference") + "</p>\n";
  bool is_thinned = false;
  bool has_zeros = false;
  const auto add = [&](const SumsSketch& sums, std::size_t side) {
    is_thinned = is_thinned || sums.bins() < sums.length();
    Index zeros = 0;
    for (Index bin = 0; bin < sums.bins(); ++bin) zeros += sums[bin].off == 0 ? 1 : 0;
    has_zeros = has_zeros || (zeros > 0 && zeros < sums.bins());
    return sums_plots(sums, facts.sums[side], facts.aims[side]);
  };
  text += add(sketch.rows, 0);
  if (facts.sums.size() > 1) text += add(sketch.columns, 1);
  text += "<p class=\"soft\">In the unit of the matrix, summed up in double precision.";
  if (facts.aims[0] == "optimal" || facts.aims[1] == "optimal") {
    text += " Optimal sums minimise the cost and what it costs to miss the masses.";
  }
  if (is_thinned) {
    text += fmt::format(
        " Of more than {0} sums {0} groups of neighbours are drawn: lines are means, pale bands reach from the least "
        "to the "
        "largest, and the difference is the largest one of a group.",
        SumsSketch::most_bins);
  }
  if (has_zeros) text += " Differences of 0 lie on the lower edge.";
  return text + "</p>\n";
}

/// What memory gives, if that was measured: all nodes together.
double streaming_limit(const mpi::Context& context) {
  const model::Machine& machine = context.machine();
  if (machine.description == model::default_machine().description) return 0;
  return machine.read_bytes_per_second * context.topology().nodes();
}

std::string rate_tile(const mpi::Context& context, const ScaledOutcome& outcome) {
  const double each = outcome.log.seconds_each();
  if (outcome.swept_bytes == 0 || each <= 0) return {};
  std::string words = "at which iterations pass over the matrix";
  if (const double limit = streaming_limit(context); limit > 0) {
    const double rate = static_cast<double>(outcome.swept_bytes) / each;
    words += fmt::format(", {} of the {} at which memory is read{}", percent_text(rate, limit),
                         rate_text(static_cast<Index>(limit), 1.0),
                         rate > 1.05 * limit ? "; so it lies in caches, in part at least" : "");
  }
  return tile(rate_text(outcome.swept_bytes, each), words);
}

std::string tiles_of(const mpi::Context& context, const ScaledOutcome& outcome, const PageFacts& facts) {
  std::string text = "<div class=\"tiles\">\n";
  if (!facts.headline.first.empty()) text += tile(facts.headline.first, facts.headline.second);
  text += tile(name(outcome.outcome.status), "status");
  text += tile(fmt::format("{}", outcome.iterations), outcome.iterations == 1 ? "iteration" : "iterations");
  text += tile(fmt::format("{:.2e}", outcome.outcome.error), "error");
  text += rate_tile(context, outcome);
  text += tile(seconds_text(outcome.seconds), "in all") + "</div>\n";
  return text + fmt::format("<p>{}: {}.</p>\n", name(outcome.outcome.status), svg::escaped(outcome.outcome.reason));
}

std::string results_section(const ScaledOptions& options, const ScaledOutcome& outcome, const PageFacts& facts) {
  std::vector<std::vector<std::string>> rows{{"", "value"}};
  for (const auto& row : facts.rows) rows.push_back({svg::escaped(row[0]), svg::escaped(row[1])});
  rows.push_back({"precision", std::string(name(outcome.precision))});
  rows.push_back({"tolerance", fmt::format("{}", tolerance_of(options, outcome.precision))});
  rows.push_back({"iterations", fmt::format("{}", outcome.iterations)});
  if (outcome.resumed_at > 0)
    rows.push_back({"iterations that a checkpoint had", fmt::format("{}", outcome.resumed_at)});
  rows.push_back({"error", fmt::format("{}", outcome.outcome.error)});
  rows.push_back({"what sums of rows are off by, as a part of all", fmt::format("{}", outcome.check.rows)});
  rows.push_back({"what sums of columns are off by, as a part of all", fmt::format("{}", outcome.check.columns)});
  rows.push_back({"sum of all", fmt::format("{}", outcome.check.mass)});
  const std::string results = "<h2>Results</h2>\n" + table(rows);
  rows = {{"", "time"}};
  rows.push_back({"reading", seconds_text(outcome.read_seconds)});
  rows.push_back({"iterations, with checks of the input", seconds_text(outcome.iterate_seconds)});
  if (const double each = outcome.log.seconds_each(); each > 0) {
    rows.push_back({"each iteration but the first", seconds_text(each)});
  }
  rows.push_back({"checking, drawing and writing", seconds_text(outcome.write_seconds)});
  rows.push_back({"in all", seconds_text(outcome.seconds)});
  return results + "<h2>Where the time went</h2>\n" + table(rows);
}

std::string iterations_timeline(const ScaledOutcome& outcome, const report::Trace& whole) {
  const IterationLog& log = outcome.log;
  if (log.shown == 0) return {};
  const report::Trace trace = report::part_of(whole, log.shown_begin, log.shown_end);
  std::size_t runs = 0;
  for (const report::RankTrace& rank : trace.ranks) runs += rank.recording.runs.size();
  const std::string which = log.shown == 1 ? fmt::format("iteration {}", log.first + 1)
                                           : fmt::format("iterations {} to {}", log.first + 1, log.first + log.shown);
  if (runs == 0) {
    return fmt::format(
        "<h2>Timeline</h2>\n<p>In {} no schedule ran: one rank has nothing to exchange, and the ranks of one node add "
        "up "
        "through memory that they share.</p>\n",
        which);
  }
  return timeline_section(trace, report::overlap_of(trace).span,
                          fmt::format("The schedules of {}; sweeps over the matrix are the gaps between them.", which));
}

}  // namespace

std::string scaled_page(const mpi::Context& context, const ScaledOptions& options, const std::string& headline,
                        const ScaledOutcome& outcome, const PageFacts& facts, const report::Trace& trace) {
  std::string told = headline;
  if (const auto at = told.find("   "); at != std::string::npos) told.replace(at, 3, "; ");
  const PageHead head{options.input, options.command,
                      fmt::format("{}; {} on {}", svg::escaped(told), counted(context.size(), "rank"),
                                  counted(context.topology().nodes(), "node"))};
  std::vector<std::string> figures{convergence_section(options, outcome, facts)};
  figures.insert(figures.end(), facts.figures.begin(), facts.figures.end());
  if (facts.masses.length() > 0) figures.push_back(masses_section(facts.masses));
  if (outcome.sketch && !outcome.sketch->picture.is_empty()) {
    figures.push_back(fmt::format("<h2>{}</h2>\n", capitalised(facts.plan)) +
                      drawn(outcome.sketch->picture, facts.plan));
  }
  if (outcome.sketch) figures.push_back(sums_section(*outcome.sketch, facts));
  figures.push_back(results_section(options, outcome, facts));
  return page(head, tiles_of(context, outcome, facts) + side_by_side(figures) + iterations_timeline(outcome, trace));
}

}  // namespace plait::cli
