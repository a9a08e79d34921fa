// plait kmeans: clusters of points, the same on any number of ranks.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/io/slab.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/kmeans/start.hpp"

#include "cli/host/job.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/plane.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

class KMeans : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Find clusters of points by k-means: least squared distances to the centres of K clusters",
        R"(Points are the rows of IN. In turn, each point gets the nearest centre (the first of several), and each centre becomes
the mean of its points, until none moves. Means are made from exact sums, random numbers depend on the seed and the row:
labels and centres have the same bits on any number of ranks.

Example:
  mpirun -n 4 plait kmeans X.npy -k 100 -o labels.npy --centres C.npy --report clusters.html)");
    options.reads("IN", input_, "The points: a NumPy .npy, Matrix Market or HDF5 file of real numbers")->required();
    add_value(options, "-k,--clusters", clusters_, parse_positive_count, "COUNT", "The number of clusters")->required();
    options
        .writes("-o,--output", output_, kind::matrix,
                "The cluster of each point, counted from 0: a .npy or HDF5 file of one dimension, i32")
        ->group(group::one_of);
    options.writes("--centres", centres_path_, kind::matrix, "The centres of clusters: a .npy or HDF5 file, K rows")
        ->group(group::one_of);
    add_value(
        options, "--start", [this](const std::string& text) { start_ = is_drawn(text) ? text : parse_path(text); },
        "++|random|FILE",
        "The first centres: points far from each other (++, the default), any points, or the rows of a matrix");
    add_value(
        options, "--seed", seed_, [](const std::string& text) { return parse_count(text, 0); }, "NUMBER",
        "Of random numbers; 0 by default");
    add_value(options, "--tolerance", limits_.tolerance, parse_positive_number, "NUMBER",
              "End where centres go less than this part of the points' spread; without it where none moves")
        ->group(group::iteration);
    add_value(options, "--max-iterations", limits_.most_iterations, parse_positive_count, "COUNT", "300 by default")
        ->group(group::iteration);
    options.host({.checkpoint_every = 10, .page = "the clusters and the objective", .trace = true});
  }

  void check() override {
    if (!is_drawn(start_)) files.reads.push_back({"--start", &start_});
  }

  std::vector<Index> prepare(Work& work) override {
    file_ = io::describe_file(work.context, input_, io::columns);
    if (!is_drawn(start_)) start_file_ = io::describe_file(work.context, start_, io::columns);
    return mpi::agreed(work.context, [&] {
      const auto [points, dimension] = file_.shape;
      expect_real(input_, file_);
      expect_real(start_, start_file_);
      if (points > 0 && dimension > 0) kmeans::expect_clusters(clusters_, points);
      const layout::Shape wanted{clusters_, dimension};
      if (!is_drawn(start_) && start_file_.shape != wanted) {
        throw ArgumentError(fmt::format("{} is {}, expected {}: a centre for each of the clusters of -k", start_,
                                        layout::to_string(start_file_.shape), layout::to_string(wanted)));
      }
      const Index own = quotient_up(points, work.context.size());
      const Index bounds = 12 + (clusters_ < 32 ? 0 : 4 * std::min<Index>(32, (clusters_ + 9) / 10));
      const Index element = is_float() ? 4 : 8;
      return std::vector{own * dimension * (element + io::bytes(file_.dtype)),
                         own * (dimension * element + bounds) + clusters_ * dimension * 120};
    });
  }

  void run(Work& work) override { is_float() ? find<float>(work) : find<double>(work); }

  void report(Report& report, Work& work) override {
    report.fact("input", input_json(input_, file_));
    report.head(fmt::format("{} of {}: {} of {}", counted(report.fact("clusters", clusters_), "cluster"), input_,
                            counted(report.fact("points", file_.shape.rows), "point"),
                            counted(report.fact("dimension", file_.shape.columns), "coordinate")));
    report.fact("precision", is_float() ? "f32" : "f64");
    report.fact("seed", seed_);
    report.line("start", report.fact("start", start_));
    const char* const status = state_.end == iterate::End::converged ? "converged" : "iteration limit";
    report.line("status", fmt::format("{}: {}", report.fact("status", status), report.fact("reason", state_.reason)));
    const std::string share = fmt::format("{:.3g}", 100 * report.fact("computed_share", computed_share_));
    report.line("iterated", fmt::format("{} in {}; {} % of distances computed{}",
                                        counted(report.fact("iterations", state_.step), "iteration"),
                                        seconds_text(report.fact("iterate_seconds", iterate_seconds_)), share,
                                        share == "100" ? "" : ", bounds told the others"));
    if (report.fact("resumed_at", resumed_at_) > 0) {
      report.line("resumed", fmt::format("after iteration {}", resumed_at_));
    }
    report.fact("objectives", objectives_);
    report.line("objective",
                fmt::format("{:.10g}, the sum of squared distances", report.fact("objective", objective_)));
    const auto [least, most] = std::ranges::minmax(sizes_);
    report.fact("sizes", sizes_);
    report.line("clusters", fmt::format("{} to {}{}", least, counted(most, "point"),
                                        report.fact("refilled", refilled_) == 0
                                            ? ""
                                            : fmt::format("; {} had none once, and got the farthest one",
                                                          counted(refilled_, "cluster"))));
    report.line("check", fmt::format("passed: none of {} has a nearer centre than its own",
                                     counted(report.fact("check.points", checked_), "point")));
    report.fact("output", output_json(output_));
    report.fact_or_null("centres", centres_path_);
    report.fact_or_null("report", settings.page);
    work.report_end(report, "");
  }

  void draw(Report& report, Work& work) override {
    report.page_head(
        input_, fmt::format("{} of {} on {}; {}", counted(clusters_, "cluster"), counted(file_.shape.rows, "point"),
                            counted(work.context.size(), "rank"), svg::escaped(state_.reason)));
    report.tile(fmt::format("{}", state_.step), state_.step == 1 ? "iteration" : "iterations");
    report.tile(fmt::format("{:.4g}", objective_), "sum of squared distances");
    report.tile(fmt::format("{:.3g} %", 100 * computed_share_), "of distances computed");
    report.figure(points_figure());
    std::vector<AxisPlot::Point> curve;
    for (const double each : objectives_) curve.push_back({static_cast<double>(curve.size() + 1), each});
    const auto [least, most] = std::ranges::minmax(objectives_);
    const bool is_logarithmic = least > 0 && most >= 10 * least;
    const std::string title = "sum of squared distances";
    AxisPlot plot({"iteration", Scale::counts, 0, std::max(2.0, static_cast<double>(curve.size()))},
                  is_logarithmic ? logarithmic_axis(title, objectives_, false)
                                 : axis_around(title, Scale::linear, least, most, 0),
                  320, "The objective over iterations");
    plot.curve("compute", "objective", curve);
    report.figure(
        "<h2>Objective</h2>\n" + plot.svg() +
        fmt::format("<p class=\"soft\">The sum of squared distances of points to the means of their clusters, "
                    "after each iteration{}. It never rises.</p>\n",
                    is_logarithmic ? ", on a logarithmic scale" : ""));
  }

 private:
  [[nodiscard]] static bool is_drawn(const std::string& start) { return start == "++" || start == "random"; }
  [[nodiscard]] bool is_float() const { return file_.dtype == io::DType::f32; }

  template <class T>
  kmeans::Points<T> points_of(Work& work, const std::string& path, const matrix_view<const T>& rows) const {
    return work.in_words({{"the data ", path}}, [&] {
      return kmeans::Points<T>(work.context, {rows.data(), rows.rows(), rows.columns(), rows.leading_dimension()});
    });
  }

  template <class T>
  std::vector<T> first_centres(Work& work, const kmeans::Points<T>& points) const {
    const auto seed = static_cast<std::uint64_t>(seed_);
    if (start_ == "++") return kmeans::spread_centres(points, clusters_, seed);
    if (start_ == "random") return kmeans::random_centres(points, clusters_, seed);
    const auto own = work.read_rows<T>(start_, start_file_);
    std::vector<Index> all(at(clusters_));
    std::iota(all.begin(), all.end(), Index{0});
    return points_of(work, start_, own.const_tiles()[0]).rows(all);
  }

  template <class T>
  void find(Work& work) {
    mpi::Context& context = work.context;
    const auto matrix = work.read_rows<T>(input_, file_);
    const auto points = points_of(work, input_, matrix.const_tiles()[0]);
    Checkpoints checkpoints(
        context, settings, limits_.most_iterations,
        {{input_, is_drawn(start_) ? "" : start_},
         {{"clusters", clusters_}, {"seed", seed_}, {"start", is_drawn(start_) ? start_ : "FILE"}}});
    resumed_at_ = checkpoints.resumed_at();
    work.meter.stage("first centres", 0, 0);
    kmeans::Solver<T> solver(points, first_centres(work, points), {.limits = limits_});
    iterate_seconds_ = work.timed([&] {
      work.iterate(solver, checkpoints, [&] {
        return fmt::format("iteration {}, objective {:.10g}", solver.state().step + 1, solver.objectives().back());
      });
    });
    state_ = solver.state();
    const auto conclusion = solver.conclude();
    objective_ = conclusion.objective;
    sizes_ = conclusion.sizes;
    objectives_ = solver.objectives();
    refilled_ = solver.refilled();
    std::array<double, 2> computed{solver.assignment().computed(), solver.assignment().without_bounds()};
    mpi::all_reduce(context.comm(), computed, mpi::Operation::sum());
    computed_share_ = computed[0] / computed[1];
    look_at_sample(work, points, solver);
    if (wrong_ > 0) {
      throw Error(ErrorKind::other,
                  fmt::format("the check failed: {} of {} points have a nearer centre than their own; "
                              "nothing was written",
                              wrong_, checked_));
    }
    write(work, points, solver);
    checkpoints.end(state_.end, state_.reason);
  }

  /// Points at random places: whether their labels are right, and where they lie, for the page.
  template <class T>
  void look_at_sample(Work& work, const kmeans::Points<T>& points, const kmeans::Solver<T>& solver) {
    constexpr Index most = 2000;
    checked_ = std::min(most, points.count());
    std::vector<Index> rows;
    for (Index i = 0; i < checked_; ++i) {
      const double place = (static_cast<double>(i) + random_uniform(1, static_cast<std::uint64_t>(i))) /
                           static_cast<double>(checked_) * static_cast<double>(points.count());
      rows.push_back(std::min(points.count() - 1, static_cast<Index>(place)));
    }
    std::vector<Index> labels(at(checked_));
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const Index i = rows[s] - points.first();
      if (i >= 0 && i < points.own().rows) labels[s] = solver.assignment().labels()[at(i)];
    }
    mpi::all_reduce(work.context.comm(), std::span<Index>(labels), mpi::Operation::sum());
    const std::vector<T> sample = points.rows(rows);
    const Index d = points.dimension();
    const double room = 8 * static_cast<double>(d + 4) * double{std::numeric_limits<T>::epsilon()};
    for (Index s = 0; s < checked_; ++s) {
      const auto distance = [&](Index j) {
        double sum = 0;
        for (Index c = 0; c < d; ++c)
          sum += std::pow(double{sample[at(s * d + c)]} - double{solver.centres().data[j * d + c]}, 2);
        return sum;
      };
      const double own = distance(labels[at(s)]);
      for (Index j = 0; j < clusters_; ++j) {
        if (distance(j) >= own * (1 - room)) continue;
        ++wrong_;
        break;
      }
    }
    if (settings.page.empty() || work.context.rank() != 0) return;
    sample_.assign(sample.begin(), sample.end());
    centres_.assign(solver.centres().data, solver.centres().data + clusters_ * d);
    labels_ = labels;
  }

  template <class T>
  void write(Work& work, const kmeans::Points<T>& points, const kmeans::Solver<T>& solver) const {
    const auto slab = [&](Index rows, Index columns) {
      return mpi::agreed(
          work.context, [&] { return io::slab_layout({rows, columns}, StorageOrder::row_major, work.context.size()); });
    };
    if (!output_.empty()) {
      auto labels = work.allocated<std::int32_t>(slab(points.count(), 1), output_);
      std::ranges::copy(solver.assignment().labels(), labels.tiles()[0].data());
      work.write(output_, labels.layout(), Index{sizeof(std::int32_t)}, [&](const io::Progress& progress) {
        io::write_matrix_file(work.context, output_, {1, {points.count()}}, labels, progress);
      });
    }
    if (!centres_path_.empty()) {
      auto centres = work.allocated<T>(slab(clusters_, points.dimension()), centres_path_);
      centres.for_each_element(
          [&](Index j, Index c, T& element) { element = solver.centres().data[j * points.dimension() + c]; });
      work.write_matrix(centres_path_, centres);
    }
  }

  [[nodiscard]] std::string points_figure() const {
    constexpr std::array marks{"plait", "gate", "network", "combine", "node", "self", "peer", "level"};
    const auto d = at(file_.shape.columns);
    const Plane plane(sample_, d);
    std::vector<std::pair<double, double>> places;
    for (const auto& numbers : {sample_, centres_}) {
      for (std::size_t p = 0; p + d <= numbers.size(); p += d)
        places.push_back(plane.place(std::span(numbers).subspan(p, d)));
    }
    const auto [left, right] = std::ranges::minmax(places, {}, [](const auto& place) { return place.first; });
    const auto [low, high] = std::ranges::minmax(places, {}, [](const auto& place) { return place.second; });
    const bool is_plane = d <= 2;
    const auto [across, up] = plane_axes(is_plane ? "coordinate 0" : "first principal axis",
                                         is_plane ? "coordinate 1" : "second principal axis",
                                         {left.first, right.first, low.second, high.second});
    AxisPlot plot(across, d == 1 ? PlotAxis{"", Scale::unmarked, -1, 1} : up, d == 1 ? 120 : plane_height,
                  "Points in the colours of their clusters, and the centres of these");
    for (std::size_t p = 0; p < places.size(); ++p) {
      const bool is_centre = p >= labels_.size();
      const Index cluster = is_centre ? static_cast<Index>(p - labels_.size()) : labels_[p];
      plot.point(is_centre ? "ink" : marks[at(cluster) % marks.size()], {places[p].first, places[p].second},
                 is_centre ? 4 : 2, fmt::format("{} {}", is_centre ? "centre of cluster" : "cluster", cluster));
    }
    return fmt::format(
        "<h2>Clusters</h2>\n{}<p class=\"soft\">{} of {}{}; dark: the centres. Colours come again after {} "
        "clusters.</p>\n",
        plot.svg(), labels_.size(), counted(file_.shape.rows, "point"),
        is_plane ? "" : fmt::format(", along the two axes that have {:.0f} % of their variance", 100 * plane.shown()),
        marks.size());
  }

  std::string input_, output_, centres_path_;
  std::string start_ = "++";
  Index clusters_ = 0;
  Index seed_ = 0;
  iterate::Limits limits_ = kmeans::Options{}.limits;
  io::MatrixFile file_, start_file_;
  // What was found.
  iterate::State state_;
  double objective_ = 0, computed_share_ = 0, iterate_seconds_ = 0;
  std::vector<double> objectives_;
  std::vector<Index> sizes_;
  Index refilled_ = 0, resumed_at_ = 0, checked_ = 0, wrong_ = 0;
  // On rank 0, for the page.
  std::vector<double> sample_, centres_;
  std::vector<Index> labels_;
};

}  // namespace

PLAIT_JOB(kmeans, KMeans)

}  // namespace plait::cli
