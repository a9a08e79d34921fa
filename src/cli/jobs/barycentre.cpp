// plait barycentre: the masses whose transports to several histograms cost least.
#include "plait/sinkhorn/transport/barycentre.hpp"

#include <numeric>

#include "cli/scaling/cost_job.hpp"

namespace plait::cli {

namespace {

constexpr const char* barycentre_footer =
    R"(The masses a of the rows that minimise the weighted sum of the costs of entropic transport from a to each histogram.

Example: the mean of histograms that are the columns of B
  mpirun -n 2 plait barycentre C.npy --histograms B.npy --epsilon 0.01 -o a.npy
Example: of histograms over the points of Y, at those of X
  mpirun -n 2 plait barycentre --points X.npy Y.npy --histograms B.npy --epsilon 0.01 -o a.npy
Example: of images, at squared distances in pixels
  mpirun -n 2 plait barycentre --images A.npy B.npy C.npy --epsilon 4 -o mean.npy)";

class Barycentre final : public CostJob {
 public:
  void options(Options& command) override {
    command.describe("Find the entropic barycentre of several histograms over a common cost", barycentre_footer);
    command.reads("IN", file_,
                  "C, the costs, between the points of the barycentre (rows) and those of the histograms (columns)");
    add_points(command, options_);
    add_images(
        command, options_, -1,
        "Instead of IN and histograms: arrays of 1 to 3 dimensions and the same extents, each divided by its sum; "
        "costs between elements are sums over axes, so that no pair is looked at");
    command.reads("--histograms", histograms_,
                  "B, with as many rows as C has columns: each column is a histogram, all of one sum; or a vector, "
                  "which is one",
                  io::columns);
    add_epsilon(command, options_);
    command.writes("-o,--output", options_.of_rows, kind::npy, "The masses, M x 1 or an image, as a .npy file")
        ->required();
    command.reads("--weights", weights_path_, "Weights of the histograms, which add up to 1; all alike by default",
                  "FILE.npy");
    add_precision(command, options_, {Precision::f64, Precision::mixed});
    add_limits(command, options_, most_with_last_epsilon);
    command.host(host_options());
  }

  void check() override {
    check_costs("f64");
    if (has_images() != bool{histograms_}) return;
    throw UsageError(has_images() ? "--histograms is given, but they are those of --images"
                                  : "--histograms is missing, expected a file, or --images");
  }

 private:
  [[nodiscard]] std::vector<ErrorWord> error_words() const override {
    auto words = CostJob::error_words();
    words.push_back({"histogram ", histograms_.path});
    words.push_back({"weight ", weights_path_});
    words.push_back({"weights ", weights_path_});
    return words;
  }

  std::vector<Index> look_at_files() override {
    describe_costs();
    if (has_images()) return {bytes_of_images(12) * std::ssize(options_.images)};
    expect_histograms();
    const Index columns = file_.shape.columns;
    const Index count = layout::elements(histograms_.shape) / std::max(Index{1}, columns);
    if (!has_points()) return phases_of(file_, kernel_bytes(), count);
    const Index rows = options_.points[0].shape.rows / context().size() + 1;
    // Each thread has exponentials of a row of each histogram at least, and sums of columns.
    const Index blocks = context().topology().threads() * 3 * count * columns;
    return {((3 * rows + 4 * columns) * options_.points[0].shape.columns + blocks) * Index{sizeof(double)} +
            bytes_of_vectors(rows, columns, count)};
  }

  /// A column each, or a vector, which is one.
  void expect_histograms() {
    mpi::agreed(context(), [&] {
      expect_real(histograms_);
      const auto [rows, columns] = histograms_.shape;
      const Index places = file_.shape.columns;
      if (rows == places || (rows == 1 && columns == places)) return;
      throw ArgumentError(fmt::format(
          "--histograms: {} is {}, expected {} rows, one for each column of the costs, and a column for each "
          "histogram, or a vector of as many elements",
          histograms_.path, layout::to_string(histograms_.shape), places));
    });
  }

  /// On every rank.
  [[nodiscard]] std::vector<std::vector<double>> read_histograms() {
    if (has_images()) {
      std::vector<std::vector<double>> masses;
      for (const InputFile& image : options_.images) masses.push_back(read_shares(work(), image));
      return masses;
    }
    const auto rows = read_all_rows<double>(work(), histograms_);
    return mpi::agreed(context(), [&] {
      if (histograms_.shape.rows != file_.shape.columns) return std::vector<std::vector<double>>{rows};
      return columns_in(rows.data(), histograms_.shape.rows, histograms_.shape.columns);
    });
  }

  void compute() override {
    if (makes_costs()) {
      const auto points = read_points<double>();
      find(points.clouds, points.clouds.x.rows());
    } else {
      precision_ == Precision::mixed ? find_with_costs<float>() : find_with_costs<double>();
    }
  }

  template <class T>
  void find_with_costs() {
    const auto matrix = read_dense<T>(file_);
    const matrix_view<const T> rows = matrix.const_tiles()[0];
    find(rows, rows.rows());
    const bool are_factors = problems_[0].stages.back().domain == sinkhorn::Domain::factors;
    page_.swept_bytes = layout::elements(file_.shape) * (are_factors ? Index{sizeof(double)} : Index{sizeof(T)});
  }

  template <class Costs>
  void find(const Costs& costs, Index rows) {
    const auto masses = read_histograms();
    const auto weights = weights_path_.empty() ? std::vector<double>() : io::read_npy_vector(context(), weights_path_);
    const auto count = static_cast<Index>(masses.size());
    auto identity = CostJob::identity({histograms_.path, weights_path_}, {});
    identity.own_rows = count * rows;
    begin_iterations("finding the barycentre", std::move(identity));
    const auto found = sinkhorn::barycentre(context(), costs, {{masses.begin(), masses.end()}, weights}, transports());
    end_iterations();
    histogram_costs_ = found.costs;
    const double own = std::accumulate(found.masses.begin(), found.masses.end(), 0.0);
    const double mass = mpi::all_reduce(context().comm(), own, mpi::Operation::sum());
    conclude({{found.outcome, {0, found.outcome.error, mass}, iterations_of(found.stages), found.stages}});
    if (has_images()) {
      draw_image("The barycentre", found.masses);
      constexpr std::size_t most_drawn = 8;
      const auto [first, own_count] = own_elements(context(), extents_);
      for (std::size_t k = 0; k < std::min(masses.size(), most_drawn); ++k) {
        draw_image(options_.images[k].path, std::span(masses[k]).subspan(at(first), at(own_count)));
      }
    } else if (!settings.page.empty()) {
      sketch_masses(found.masses);
    }
    write_row_vectors({found.masses});
  }

  void sketch_masses(std::span<const double> own) {
    Index row = mpi::sum_below(context().comm(), static_cast<Index>(own.size()));
    masses_ = mpi::agreed(context(), [&] { return SumsSketch(file_.shape.rows); });
    for (const double mass : own) masses_.add(row++, mass, mass);
    masses_.unite(context());
  }

  [[nodiscard]] std::string headline() const override {
    return fmt::format("barycentre of {} histograms   {}", histogram_costs_.size(), costs_text());
  }

  void report_own(Report& report, PageFacts& page) const override {
    constexpr std::size_t most_rows = 64;
    const std::size_t count = histogram_costs_.size();
    report.row("histograms", "{}", count);
    report.fact_in_row("epsilon", "epsilon", options_.how.epsilon);
    for (std::size_t k = 0; k < std::min(count, most_rows); ++k) {
      report.row(fmt::format("cost to histogram {}", k), "{:.10g}", histogram_costs_[k]);
    }
    if (count > most_rows) report.row("costs to further ones", "as --json tells");
    report.fact_or_null("histograms", histograms_.path);
    report.fact_or_null("weights", weights_path_);
    report.fact("output", output_json(options_.of_rows));
    report.fact("costs", histogram_costs_);
    report.line("costs", list_of(histogram_costs_, 6));
    report_stages(report);
    page.masses = masses_;
  }

  InputFile histograms_;
  std::string weights_path_;  // empty: all alike
  std::vector<double> histogram_costs_;
  SumsSketch masses_;  // for --report
};

}  // namespace

PLAIT_JOB(barycentre, Barycentre)

}  // namespace plait::cli
