// plait kmeans: clusters of points, the same on any number of ranks.
#include <limits>
#include <numeric>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/kmeans/start.hpp"

#include "cli/host/job.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

/// Points at random places, from all ranks: whether their labels are right, and where they lie, for the page.
struct ClusterSample {
  Index coordinates = 0;
  std::vector<double> points;
  std::vector<double> centres;  // all of them
  std::vector<Index> labels;
  Index wrong = 0;  // points that have a nearer centre than their own, by more than rounding
};

/// Collective; the same on all ranks.
template <class T>
ClusterSample sample_of(const kmeans::Points<T>& points, const kmeans::Solver<T>& solver) {
  constexpr Index most = 2000;
  const Index count = std::min(most, points.count());
  const Index d = points.dimension();
  const auto centres = solver.centres();
  std::vector<Index> rows;
  for (Index i = 0; i < count; ++i) {
    const double place = (static_cast<double>(i) + random_uniform(1, static_cast<std::uint64_t>(i))) /
                         static_cast<double>(count) * static_cast<double>(points.count());
    rows.push_back(std::min(points.count() - 1, static_cast<Index>(place)));
  }
  const std::vector<T> numbers = points.rows(rows);
  ClusterSample sample{d, {numbers.begin(), numbers.end()}, {}, std::vector<Index>(rows.size())};
  sample.centres.assign(centres.data, centres.data + centres.rows * d);
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const Index i = rows[s] - points.first();
    if (i >= 0 && i < points.own().rows) sample.labels[s] = solver.assignment().labels()[at(i)];
  }
  mpi::all_reduce(points.context().comm(), std::span<Index>(sample.labels), mpi::Operation::sum());
  const double room = 8 * static_cast<double>(d + 4) * double{std::numeric_limits<T>::epsilon()};
  for (Index s = 0; s < count; ++s) {
    const auto distance = [&](Index j) {
      double sum = 0;
      for (Index c = 0; c < d; ++c) sum += std::pow(sample.points[at(s * d + c)] - sample.centres[at(j * d + c)], 2);
      return sum;
    };
    const double nearer = distance(sample.labels[at(s)]) * (1 - room);
    for (Index j = 0; j < centres.rows; ++j) {
      if (distance(j) >= nearer) continue;
      ++sample.wrong;
      break;
    }
  }
  return sample;
}

/// A figure of a page: the points in the colours of their clusters.
/// \param all  the matrix of which they are rows
std::string clusters_figure(const ClusterSample& sample, layout::Shape all) {
  constexpr std::array marks{"plait", "gate", "network", "combine", "node", "self", "peer", "level"};
  const auto d = at(sample.coordinates);
  const Plane plane(sample.points, d);
  std::vector<std::pair<double, double>> places;
  for (const auto& numbers : {sample.points, sample.centres}) {
    for (std::size_t p = 0; p + d <= numbers.size(); p += d) {
      places.push_back(plane.place(std::span(numbers).subspan(p, d)));
    }
  }
  const auto [left, right] = std::ranges::minmax(places, {}, [](const auto& place) { return place.first; });
  const auto [low, high] = std::ranges::minmax(places, {}, [](const auto& place) { return place.second; });
  const bool is_plane = d <= 2;
  const auto [across, up] = plane_axes(d, {left.first, right.first, low.second, high.second});
  AxisPlot plot(across, d == 1 ? PlotAxis{"", Scale::unmarked, -1, 1} : up, d == 1 ? 120 : plane_height,
                "Points in the colours of their clusters, and the centres of these");
  const auto& labels = sample.labels;
  for (std::size_t p = 0; p < places.size(); ++p) {
    const bool is_centre = p >= labels.size();
    const Index cluster = is_centre ? static_cast<Index>(p - labels.size()) : labels[p];
    plot.point(is_centre ? "ink" : marks[at(cluster) % marks.size()], {places[p].first, places[p].second},
               is_centre ? 4 : 2, fmt::format("{} {}", is_centre ? "centre of cluster" : "cluster", cluster));
  }
  return fmt::format(
      "<h2>Clusters</h2>\n{}<p class=\"soft\">{} of {}{}; dark: the centres. Colours come again after {} "
      "clusters.</p>\n",
      plot.svg(), labels.size(), counted(all.rows, "point"),
      is_plane ? "" : fmt::format(", along the two axes that have {:.0f} % of their variance", 100 * plane.shown()),
      marks.size());
}

class KMeans : public Job {
  using Draw = kmeans::Draw;

 public:
  void options(Options& options) override {
    options.describe(
        "Find clusters of points by k-means: least squared distances to the centres of K clusters",
        R"(Points are the rows of IN. In turn, each point gets the nearest centre (the first of several), and each centre becomes
the mean of its points, until none moves. Means are made from exact sums, random numbers depend on the seed and the row:
labels and centres have the same bits on any number of ranks.

Methods: exact, as above; minibatch, where centres go towards a few points at a time, and come near a local minimum in
few epochs of all points; sgd, the same with one point at a time; asgd, where each rank does so with its own points, and
ranks send each other their centres without waiting, so that those depend on the clock. Labels then belong to the centres
as they are at the end.

Example:
  mpirun -n 4 plait kmeans X.npy -k 100 -o labels.npy --centres C.npy --report clusters.html)");
    options.reads("IN", input_, fmt::format("The points: {} of real numbers", matrix_file), io::columns)->required();
    add_value(options, "-k,--clusters", clusters_, parse_positive_count, "COUNT", "The number of clusters")->required();
    options
        .writes("-o,--output", output_, kind::matrix,
                "The cluster of each point, counted from 0: a .npy or HDF5 file of one dimension, i32")
        ->group(group::one_of);
    options.writes("--centres", centres_path_, kind::matrix, "The centres of clusters: a .npy or HDF5 file, K rows")
        ->group(group::one_of);
    add_value(
        options, "--start", [this](const std::string& text) { start_.path = is_drawn(text) ? text : parse_path(text); },
        "++|random|FILE",
        "The first centres: points far from each other (++, the default), any points, or the rows of a matrix");
    add_value(options, "--seed", seed_, parse_count_from_0, "NUMBER", "Of random numbers; 0 by default");
    options.group(group::iteration);
    add_choice(options, "--method", draw_,
               {{"exact", Draw::all}, {"minibatch", Draw::batches}, {"sgd", Draw::points}, {"asgd", Draw::own_batches}},
               "METHOD", "{}");
    add_value(options, "--batch", batch_, parse_positive_count, "COUNT",
              "Points of a minibatch, also of asgd; 1024 by default");
    add_value(options, "--tolerance", limits_.tolerance, parse_positive_number, "NUMBER",
              "End where centres go less than this part of the points' spread; without it where none moves");
    add_value(options, "--max-iterations", most_iterations_, parse_positive_count, "COUNT",
              "300 by default, with minibatches 10 epochs");
    options.host({.checkpoint_every = 10, .page = "the clusters and the objective", .trace = true});
  }

  void check() override {
    if (!is_drawn(start_.path)) {
      files.reads.push_back({"--start", &start_.path});
      files.inputs.emplace_back(&start_, io::columns);
    }
    limits_.most_iterations = most_iterations_.value_or(draw_ == Draw::all ? 300 : 10);
    if (batch_ && draw_ != Draw::batches && draw_ != Draw::own_batches) {
      throw UsageError("--batch is given, but --method is {}, expected minibatch or asgd", method());
    }
  }

  std::vector<Index> prepare(Work& work) override {
    return mpi::agreed(work.context, [&] {
      const Index points = input_.shape.rows, dimension = input_.shape.columns;
      expect_real(input_);
      expect_real(start_);
      if (points > 0 && dimension > 0) kmeans::expect_clusters(clusters_, points);
      const layout::Shape wanted{clusters_, dimension};
      start_ = io::with_columns_of(input_.path, input_, start_.path, start_);
      if (!is_drawn(start_.path) && start_.shape != wanted) {
        throw ArgumentError(fmt::format("--start {} is {}, expected {}: a centre for each of the clusters of -k",
                                        start_.path, io::shape_text(start_), layout::to_string(wanted)));
      }
      const Index own = quotient_up(points, work.context.size());
      constexpr Index bounds = 12;  // two of them and a label
      const Index element = is_float() ? 4 : 8;
      return std::vector{own * dimension * (element + io::bytes(input_.dtype)),
                         own * (dimension * element + bounds) + clusters_ * dimension * 120};
    });
  }

  [[nodiscard]] std::vector<ErrorWord> error_words() const override { return {{"the number of clusters ", "-k"}}; }

  void run(Work& work) override { is_float() ? find<float>(work) : find<double>(work); }

  void report(Report& report, Work& work) override {
    report.fact("input", input_);
    report.head("{} of {}: {} of {}", counted(report.fact("clusters", clusters_), "cluster"), input_.path,
                counted(report.fact("points", input_.shape.rows), "point"),
                counted(report.fact("dimension", input_.shape.columns), "coordinate"));
    report.fact("precision", is_float() ? "f32" : "f64");
    report.fact("seed", seed_);
    report.line("start", report.fact("start", start_.path));
    report.line("method", report.fact("method", method()));
    const std::string share = fmt::format("{:.3g}", 100 * report.fact("computed_share", computed_share_));
    report.iterations(iterated_, fmt::format("; {} % of distances computed{}", share,
                                             share == "100" ? "" : ", bounds told the others"));
    report.line("objective", "{:.10g}, the sum of squared distances", report.fact("objective", objective_));
    const auto [least, most] = std::ranges::minmax(sizes_);
    report.fact("sizes", sizes_);
    report.line("clusters", "{} to {}{}", least, counted(most, "point"),
                report.fact("refilled", refilled_) == 0
                    ? ""
                    : fmt::format("; {} had none once, and got the farthest one", counted(refilled_, "cluster")));
    report.line("check", "passed: none of {} has a nearer centre than its own",
                counted(report.fact("check.points", std::ssize(sample_.labels)), "point"));
    report.fact("output", output_json(output_));
    report.fact_or_null("centres", centres_path_);
    work.report_end(report, "");
  }

  void draw(Report& report, Work& work) override {
    report.page_head(input_.path, fmt::format("{} of {} on {}; {}", counted(clusters_, "cluster"),
                                              counted(input_.shape.rows, "point"), counted(work.context.size(), "rank"),
                                              svg::escaped(iterated_.state.reason)));
    report.tile(fmt::format("{:.4g}", objective_), "sum of squared distances");
    report.tile(fmt::format("{:.3g} %", 100 * computed_share_), "of distances computed");
    report.figure(clusters_figure(sample_, input_.shape));
    report.figure(objective_figure("sum of squared distances", objectives_,
                                   draw_ == Draw::all
                                       ? "The sum of squared distances of points to the means of their clusters, "
                                         "after each iteration. It never rises."
                                       : "The sum of squared distances of points to the nearest centres, after each "
                                         "epoch."));
  }

 private:
  [[nodiscard]] static bool is_drawn(const std::string& start) { return start == "++" || start == "random"; }
  [[nodiscard]] const char* method() const {
    return std::array{"exact", "minibatch", "sgd", "asgd"}[static_cast<std::size_t>(draw_)];
  }
  [[nodiscard]] Index batch() const { return batch_.value_or(kmeans::Options{}.batch); }
  [[nodiscard]] bool is_float() const { return input_.dtype == io::DType::f32; }

  template <class T>
  kmeans::Points<T> points_of(Work& work, const std::string& path, const matrix_view<const T>& rows) const {
    return work.in_words({{"the data ", path}}, [&] {
      return kmeans::Points<T>(work.context, {rows.data(), rows.rows(), rows.columns(), rows.leading_dimension()});
    });
  }

  template <class T>
  std::vector<T> first_centres(Work& work, const kmeans::Points<T>& points) const {
    const auto seed = static_cast<std::uint64_t>(seed_);
    if (start_.path == "++") return kmeans::spread_centres(points, clusters_, seed);
    if (start_.path == "random") return kmeans::random_centres(points, clusters_, seed);
    const auto own = work.read_rows<T>(start_);
    std::vector<Index> all(at(clusters_));
    std::iota(all.begin(), all.end(), Index{0});
    return points_of(work, start_.path, own.const_tiles()[0]).rows(all);
  }

  template <class T>
  void find(Work& work) {
    mpi::Context& context = work.context;
    const auto matrix = work.read_rows<T>(input_);
    const auto points = points_of(work, input_.path, matrix.const_tiles()[0]);
    Checkpoints checkpoints(context, settings, limits_.most_iterations,
                            {{input_.path, is_drawn(start_.path) ? "" : start_.path},
                             {{"clusters", clusters_},
                              {"seed", seed_},
                              {"start", is_drawn(start_.path) ? start_.path : "FILE"},
                              {"method", method()},
                              {"batch", batch()}}});
    work.meter.stage("first centres", 0, 0);
    const kmeans::Options options{
        .limits = limits_, .draw = draw_, .batch = batch(), .seed = static_cast<std::uint64_t>(seed_)};
    kmeans::Solver<T> solver(points, first_centres(work, points), options);
    iterated_ = work.iterate(solver, checkpoints, [&] {
      return fmt::format("iteration {}, objective {:.10g}", solver.state().step + 1, solver.objectives().back());
    });
    objectives_ = solver.objectives();
    const auto conclusion = solver.conclude();
    objective_ = conclusion.objective;
    sizes_ = conclusion.sizes;
    refilled_ = solver.refilled();
    std::array<double, 2> computed{solver.assignment().computed(), solver.assignment().without_bounds()};
    mpi::all_reduce(context.comm(), computed, mpi::Operation::sum());
    computed_share_ = computed[0] / computed[1];
    sample_ = sample_of(points, solver);
    if (sample_.wrong > 0) {
      throw Error(ErrorKind::other,
                  fmt::format("the check failed: {} of {} points have a nearer centre than their own; "
                              "nothing was written",
                              sample_.wrong, sample_.labels.size()));
    }
    const Index d = points.dimension();
    work.write_own(output_, {1, {points.count()}}, solver.assignment().labels());
    work.write_elements<T>(centres_path_, {2, {clusters_, d}},
                           [&](Index j, Index c) { return solver.centres().data[j * d + c]; });
    checkpoints.end(iterated_.state.end, iterated_.state.reason);
  }

  InputFile input_;
  InputFile start_{{}, "++"};  // or "random"
  std::string output_, centres_path_;
  Index clusters_ = 0;
  Index seed_ = 0;
  std::optional<Index> batch_;
  Draw draw_ = Draw::all;
  std::optional<Index> most_iterations_;
  iterate::Limits limits_ = kmeans::Options{}.limits;
  // What was found.
  Iterated iterated_;
  double objective_ = 0, computed_share_ = 0;
  std::vector<double> objectives_;
  std::vector<Index> sizes_;
  Index refilled_ = 0;
  ClusterSample sample_;
};

}  // namespace

PLAIT_JOB(kmeans, KMeans)

}  // namespace plait::cli
