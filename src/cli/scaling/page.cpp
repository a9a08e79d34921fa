#include "cli/pictures/page.hpp"

#include <cctype>
#include <limits>

#include "plait/collective/calls.hpp"
#include "plait/model/machine.hpp"
#include "plait/report/overlap.hpp"

#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/scaling/job.hpp"
#include "cli/trace/timeline.hpp"

namespace plait::cli {

SumsSketch::SumsSketch(Index length) : length_(length), bins_(std::min(length, most_bins)) {
  highest_.resize(at(bins_));
  for (auto& highest : highest_) highest.fill(-std::numeric_limits<double>::infinity());
  sums_.resize(at(bins_));
}

void SumsSketch::add(Index i, double wanted, double reached) {
  const auto bin = at(i * bins_ / length_);
  const std::array numbers{-wanted, wanted, -reached, reached, std::abs(reached - wanted)};
  for (std::size_t k = 0; k < numbers.size(); ++k) highest_[bin][k] = std::max(highest_[bin][k], numbers[k]);
  sums_[bin][0] += wanted;
  sums_[bin][1] += reached;
}

void SumsSketch::unite(const mpi::Context& context) {
  if (bins_ == 0) return;
  mpi::all_reduce(context.comm(), std::span(highest_[0].data(), 5 * highest_.size()), mpi::Operation::maximum());
  mpi::all_reduce(context.comm(), std::span(sums_[0].data(), 2 * sums_.size()), mpi::Operation::sum());
}

SumsSketch::Bin SumsSketch::operator[](Index bin) const {
  const auto& highest = highest_[at(bin)];
  const auto& sums = sums_[at(bin)];
  const auto count = static_cast<double>(end_of(bin) - begin_of(bin));
  return {{-highest[0], sums[0] / count, highest[1]}, {-highest[2], sums[1] / count, highest[3]}, highest[4]};
}

PlanSketch sketch_of(mpi::Context& context, MatrixPicture picture, const sinkhorn::MarginalSums& sums) {
  const sinkhorn::CheckedMarginals& wanted = *sums.marginals;
  auto sketch = mpi::agreed(context, [&] {
    return PlanSketch{std::move(picture), SumsSketch(wanted.all_rows), SumsSketch(std::ssize(sums.columns))};
  });
  Index row = wanted.first_row;
  for (std::size_t i = 0; i < sums.rows.size(); ++i) sketch.rows.add(row++, wanted.rows[i], sums.rows[i]);
  Index column = 0;
  for (const double sum : sums.columns) {
    sketch.columns.add(column, wanted.columns[at(column)], sum);
    ++column;
  }
  sketch.rows.unite(context);
  sketch.picture.unite(context);
  return sketch;
}

void IterationLog::took(Index iteration, double error) {
  const Nanoseconds now = steady_nanoseconds();
  if (errors.empty()) {
    first = iteration;
    began = shown_begin = now;
  }
  if (errors.empty() || iteration <= last_) errors.emplace_back();
  errors.back().push_back(error);
  last_ = iteration;
  ended = now;
  if (iterations() > 1 && shown < most_shown) {
    ++shown;
    shown_end = now;
  }
}

Index IterationLog::iterations() const noexcept {
  Index count = 0;
  for (const auto& each : errors) count += static_cast<Index>(each.size());
  return count;
}

double IterationLog::seconds_each() const noexcept {
  const Index count = iterations();
  return count > 1 ? seconds(ended - began) / static_cast<double>(count - 1) : 0;
}

using sinkhorn::Outcome;

namespace {

using PlotPoints = std::vector<AxisPlot::Point>;

/// The iterations that the page shows: those of the last stage before a checkpoint, too.
std::vector<std::vector<double>> errors_of(const PageFacts& facts) {
  const auto& errors = facts.log.errors;
  const auto& last = facts.outcome.errors;
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

std::string convergence_section(const PageFacts& facts, double tolerance, bool is_resumed) {
  const auto errors = errors_of(facts);
  if (errors.empty()) return "<h2>Convergence</h2>\n<p>There was no iteration.</p>\n";
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
  const bool known = are_stages(errors, facts.stages, is_resumed || facts.log.first > 1);
  const std::size_t before = known ? facts.stages.size() - errors.size() : 0;
  for (std::size_t k = 0; k < begins.size() && begins.size() > 1; ++k) {
    const double next = k + 1 < begins.size() ? begins[k + 1].first : last;
    plot.boundary(begins[k].first, known ? fmt::format("epsilon {:.3g}", facts.stages[before + k].epsilon) : "", next);
  }
  plot.curve("compute", "error", points);
  std::string text =
      "<h2>Convergence</h2>\n" + plot.svg() +
      "<p class=\"soft\">After each iteration, on a logarithmic scale: errors of sums, added up, over the wanted "
      "sum of all.";
  if (begins.size() > 1) {
    text += fmt::format(
        " Dotted lines: {}{}", facts.next_stage,
        known ? ". Only the last epsilon is solved to the tolerance." : ", or the same one again in logarithms.");
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
    if (!facts.transports.empty()) {
      rows[0].insert(rows[0].begin(), "transport");
      for (std::size_t k = 1; k < rows.size(); ++k) rows[k].insert(rows[k].begin(), facts.transports[k - 1]);
    }
    text += table(rows);
  }
  return text;
}

/// Numbers over their indices: of several neighbours the least, the mean and the largest.
struct SumsCurves {
  PlotPoints least;
  PlotPoints mean;
  PlotPoints largest;
  std::vector<double> numbers;  // the least and the largest ones

  SumsCurves(const SumsSketch& sums, SumsSketch::Range SumsSketch::Bin::* side) {
    for (Index bin = 0; bin < sums.bins(); ++bin) {
      const SumsSketch::Range each = sums[bin].*side;
      const double x = static_cast<double>(sums.begin_of(bin) + sums.end_of(bin) - 1) / 2;
      least.push_back({x, each.least});
      mean.push_back({x, each.mean});
      largest.push_back({x, each.largest});
      numbers.insert(numbers.end(), {each.least, each.largest});
    }
  }
};

PlotAxis axis_across(const SumsSketch& sums, const std::string& what) {
  return {what + ", counted from 0", Scale::counts, 0, std::max(1.0, static_cast<double>(sums.length() - 1))};
}

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// Wanted and reached sums over their indices, and what they differ by.
std::string sums_plots(const SumsSketch& sums, const std::string& what, const std::string& aim) {
  if (sums.length() == 0) return fmt::format("<p>There are no {}s.</p>\n", what);
  const SumsCurves wanted(sums, &SumsSketch::Bin::wanted);
  const SumsCurves reached(sums, &SumsSketch::Bin::reached);
  std::vector<double> numbers = wanted.numbers;
  numbers.insert(numbers.end(), reached.numbers.begin(), reached.numbers.end());
  std::vector<double> differences;
  PlotPoints off;
  for (Index bin = 0; bin < sums.bins(); ++bin) {
    differences.push_back(sums[bin].off);
    off.push_back({wanted.mean[static_cast<std::size_t>(bin)].x, sums[bin].off});
  }
  const PlotAxis across = axis_across(sums, what);
  AxisPlot plot(across, linear_axis("sum of a " + what, numbers), 230,
                fmt::format("{} and reached sums of {} {}s", capitalised(aim), sums.length(), what));
  if (sums.is_thinned()) {
    plot.band("wait", wanted.least, wanted.largest);
    plot.band("compute", reached.least, reached.largest);
  }
  plot.curve("wait", aim, wanted.mean, AxisPlot::Line::broad);
  plot.curve("compute", "reached", reached.mean);
  const auto [least, most] = std::ranges::minmax(numbers);
  constexpr double alike = 0.01;  // beyond which a plot has something to show
  const bool is_flat = most - least <= alike * most;
  std::string text =
      is_flat ? "" : fmt::format("<p>{}{}</p>\n{}", key("wait", aim), key("compute", "reached"), plot.svg());
  const auto [least_off, most_off] = std::ranges::minmax(differences);
  if (most_off == 0) return text + fmt::format("<p>All {}s have exactly the {} sums.</p>\n", what, aim);
  if (is_flat) {
    text += fmt::format("<p>All {}s are to have the sum {:.6g}, and have it to within {:.1g}.</p>\n", what, numbers[0],
                        most_off);
  }
  AxisPlot below(
      across, logarithmic_axis(fmt::format("|reached - {}|", aim), differences, least_off == 0), 180,
      fmt::format("Differences of {} and reached sums of {} {}s, on a logarithmic scale", aim, sums.length(), what));
  below.curve("network", "difference", off);
  return text + below.svg();
}

/// Masses that were found, where nobody knows which ones are wanted.
std::string masses_section(const SumsSketch& masses) {
  const SumsCurves curves(masses, &SumsSketch::Bin::reached);
  AxisPlot plot(axis_across(masses, "row"), linear_axis("mass", curves.numbers), 280,
                fmt::format("The masses of {} rows", masses.length()));
  if (masses.is_thinned()) plot.band("compute", curves.least, curves.largest);
  plot.curve("compute", "mass", curves.mean);
  std::string text = "<h2>The barycentre</h2>\n" + plot.svg() + "<p class=\"soft\">In the unit of the histograms.";
  if (masses.is_thinned()) {
    text += fmt::format(" {} groups of neighbours are drawn: means, and from the least to the largest.", masses.bins());
  }
  return text + "</p>\n";
}

std::string sums_section(const PlanSketch& sketch, const PageFacts& facts) {
  std::string text = fmt::format("<h2>Sums of {}s{}</h2>\n", facts.sums[0],
                                 facts.sums.size() > 1 ? fmt::format(" and {}s", facts.sums[1]) : "");
  bool is_thinned = false;
  bool has_zeros = false;
  for (std::size_t side = 0; side < facts.sums.size(); ++side) {
    const SumsSketch& sums = side == 0 ? sketch.rows : sketch.columns;
    is_thinned = is_thinned || sums.is_thinned();
    Index zeros = 0;
    for (Index bin = 0; bin < sums.bins(); ++bin) zeros += sums[bin].off == 0 ? 1 : 0;
    has_zeros = has_zeros || (zeros > 0 && zeros < sums.bins());
    text += sums_plots(sums, facts.sums[side], facts.aims[side]);
  }
  text += "<p class=\"soft\">In the unit of the matrix, summed up in double precision.";
  if (facts.aims[0] == "optimal" || facts.aims[1] == "optimal") {
    text += " Optimal sums minimise the cost and what it costs to miss the masses.";
  }
  if (is_thinned) {
    text += fmt::format(
        " Of more than {0} sums {0} groups of neighbours are drawn: lines are means, pale bands reach from the least "
        "to "
        "the largest, and the difference is the largest one of a group.",
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

void rate_tile(Report& report, const mpi::Context& context, const PageFacts& facts) {
  const double each = facts.log.seconds_each();
  if (facts.swept_bytes == 0 || each <= 0) return;
  std::string words = "matrix read by iterations";
  if (const double limit = streaming_limit(context); limit > 0) {
    const double rate = static_cast<double>(facts.swept_bytes) / each;
    words += fmt::format(", {} of the {} at which memory is read{}", percent_text(rate, limit),
                         rate_text(static_cast<Index>(limit), 1.0),
                         rate > 1.05 * limit ? "; some of it lies in caches" : "");
  }
  report.tile(rate_text(facts.swept_bytes, each), words);
}

std::string iterations_timeline(const IterationLog& log, const report::Trace& whole) {
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

void ScalingJob::draw(Report& report, Work& work) {
  const PageFacts& facts = page_;
  const Outcome& outcome = facts.outcome;
  std::string words = headline();
  if (const auto at = words.find("   "); at != std::string::npos) words.replace(at, 3, "; ");
  report.page_head(
      input(),
      fmt::format("{}; {} on {}</p>\n<p>{}: {}.", svg::escaped(words), counted(context().size(), "rank"),
                  counted(context().topology().nodes(), "node"), name(outcome.status), svg::escaped(outcome.reason)));
  if (!facts.number.first.empty()) report.tile(facts.number.first, facts.number.second);
  report.tile(name(outcome.status), "status");
  report.tile(fmt::format("{}", facts.iterations), facts.iterations == 1 ? "iteration" : "iterations");
  report.tile(fmt::format("{:.2e}", outcome.error), "error");
  rate_tile(report, context(), facts);
  report.tile(seconds_text(work.seconds), "in all");
  const bool is_resumed = checkpoints_ && checkpoints_->resumed_at() > 0;
  report.figure(convergence_section(facts, options_.tolerance_of(precision_), is_resumed));
  for (const std::string& figure : facts.figures) report.figure(figure);
  if (facts.masses.length() > 0) report.figure(masses_section(facts.masses));
  if (facts.sketch && !facts.sketch->picture.is_empty()) {
    report.figure(fmt::format("<h2>{}</h2>\n", capitalised(facts.plan)) + drawn(facts.sketch->picture, facts.plan));
  }
  if (facts.sketch) report.figure(sums_section(*facts.sketch, facts));
  std::vector<std::vector<std::string>> times{{"", "time"}};
  times.insert(times.end(), facts.times.begin(), facts.times.end());
  report.section("<h2>Where the time went</h2>\n" + table(times));
  report.section(iterations_timeline(facts.log, work.trace()));
}

}  // namespace plait::cli
