// plait divergence: how far masses are from each other, by three transports.
#include "plait/sinkhorn/transport/divergence.hpp"

#include "cli/scaling/cost_job.hpp"

namespace plait::cli {

namespace {

constexpr const char* divergence_footer =
    R"(S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2,  OT the least  sum C P + epsilon sum P (log(P / r c) - 1)  of plans
with these masses. Unlike the cost of a plan it is 0 for equal masses at equal points. Unbalanced, RHO KL(sums | masses)
of both sides is added to what is minimised.

Example: between two clouds of points
  mpirun -n 2 plait divergence --points X.npy Y.npy --epsilon 0.01
Example: between two histograms over the same places, with costs C
  mpirun -n 2 plait divergence C.npy --epsilon 0.01 --rows a.npy --columns b.npy --row-gradient g.npy
Example: between two images, at squared distances in pixels
  mpirun -n 2 plait divergence --images a.npy b.npy --epsilon 4)";

class DivergenceJob final : public CostJob {
 public:
  void options(Options& command) override {
    command.describe("Compute how far masses are from each other: the debiased Sinkhorn divergence", divergence_footer);
    command.reads("IN", file_,
                  "C, the costs between the points of the rows and those of the columns, as for plait transport; "
                  "without --among-rows symmetric, among the points of both");
    add_points(command, options_);
    add_images(command, options_, 2,
               "Instead of IN and masses: arrays of 1 to 3 dimensions and the same extents, each divided by its sum "
               "unless with --unbalanced; costs between elements are sums over axes");
    add_epsilon(command, options_);
    command.writes("--row-gradient", options_.of_rows, kind::npy,
                   "Derivatives of S with respect to the masses of the rows, M x 1, as a .npy file");
    command.writes("--column-gradient", options_.of_columns, kind::npy, "The same of the columns, 1 x N");
    command.reads("--among-rows", among_rows_, "Costs among the points of the rows: symmetric, M x M");
    command.reads("--among-columns", among_columns_, "The same of the columns, N x N");
    add_marginals(command, options_, "Masses of the rows, a vector; 1/M each by default");
    const auto read_rho = [](const std::string& text) {
      const double rho = parse_positive_number(text);
      return sinkhorn::Rho{rho, rho};
    };
    add_value(command, "--unbalanced", options_.how.rho, read_rho, "RHO",
              "Let sums miss the masses at a cost of RHO KL(sums | masses); the masses need not have one total");
    add_precision(command, options_, {Precision::f64, Precision::f32, Precision::mixed});
    add_limits(command, options_, most_with_last_epsilon);
    HostOptions host = host_options();
    host.checkpoint_every = 0;
    command.host(host);
  }

  void check() override {
    check_costs("f64 or f32");
    if (bool{among_rows_} != bool{among_columns_}) {
      throw UsageError("--among-rows and --among-columns need each other: costs among the points of either side");
    }
    if (makes_costs() && among_rows_) {
      throw UsageError("--among-rows is given, but {} makes all costs; expected one of them",
                       has_points() ? "--points" : "--images");
    }
  }

 private:
  [[nodiscard]] std::vector<ErrorWord> error_words() const override {
    // Without files of their own these costs are those of IN.
    const auto or_input = [&](const std::string& path) { return path.empty() ? file_.path : path; };
    std::vector<ErrorWord> words{{"the costs among the rows: ", or_input(among_rows_.path)},
                                 {"the costs among the columns: ", or_input(among_columns_.path)}};
    const auto others = CostJob::error_words();
    words.insert(words.end(), others.begin(), others.end());
    return words;
  }

  std::vector<Index> look_at_files() override {
    describe_costs();
    files_ = MarginalFiles(context(), options_, file_.shape);
    mpi::agreed(context(), [&] { files_.expect_one_for("a matrix of masses", "vectors"); });
    if (among_rows_) {
      expect_costs("--among-rows", among_rows_, file_.shape.rows, "rows");
      expect_costs("--among-columns", among_columns_, file_.shape.columns, "columns");
    } else if (!makes_costs()) {
      mpi::agreed(context(), [&] {
        if (file_.shape.rows == file_.shape.columns) return;
        throw ArgumentError(
            fmt::format("{} is {}, expected the square costs among the points of both sides, or those among either in "
                        "--among-rows and --among-columns",
                        input(), layout::to_string(file_.shape)));
      });
    }
    if (has_images()) return {bytes_of_images(20)};
    if (!has_points()) return {bytes_of_costs()};
    const Index points = options_.points[0].shape.rows + options_.points[1].shape.rows;
    const Index blocks =
        20 * std::max(options_.points[0].shape.rows, options_.points[1].shape.rows) * element_bytes(precision_);
    return {(4 * options_.points[0].shape.columns + 14) * points * Index{sizeof(double)} + blocks};
  }

  void expect_costs(const char* option, const InputFile& file, Index expected, const char* what) const {
    mpi::agreed(context(), [&] {
      expect_real(file);
      if (file.shape.rows == expected && file.shape.columns == expected) return;
      throw ArgumentError(
          fmt::format("{0}: {1} is {2}, expected {3} x {3}, as the costs between both sides have {3} {4}", option,
                      file.path, layout::to_string(file.shape), expected, what));
    });
  }

  /// What this rank needs for costs, one kernel beside them, and vectors.
  [[nodiscard]] Index bytes_of_costs() const {
    Index kept = 12 * (file_.shape.rows + file_.shape.columns) * Index{sizeof(double)};
    Index beside = 0;
    const auto add = [&](const io::MatrixFile& file) {
      const Index elements = io::slab_layout(file.shape, file.order, context().size()).elements_of(context().rank());
      const Index number = element_bytes(precision_);
      const Index read = io::bytes(file.dtype);
      const bool is_changed = read != number || file.order == StorageOrder::column_major;
      beside = std::max({beside, elements * kernel_bytes(), is_changed ? elements * read : 0});
      kept += elements * number;
    };
    add(file_);
    if (among_rows_) add(among_rows_);
    if (among_columns_) add(among_columns_);
    return kept + beside;
  }

  void compute() override {
    with_numbers_of(precision_, [&]<class T, class A>() {
      if (!makes_costs()) return find_with_costs<T, A>();
      if constexpr (std::is_same_v<T, A>) {
        const auto points = read_points<A>();
        const auto& clouds = points.clouds;
        find<A>(clouds.x.rows(), [&](const sinkhorn::Marginals& masses, const sinkhorn::TransportOptions& how) {
          return sinkhorn::divergence<A>(context(), clouds, masses, how);
        });
      }
    });
  }

  template <class T, class A>
  void find_with_costs() {
    const auto between = read_dense<T>(file_);
    std::optional<layout::DistributedMatrix<T>> among_rows;
    std::optional<layout::DistributedMatrix<T>> among_columns;
    if (among_rows_) {
      among_rows.emplace(read_dense<T>(among_rows_));
      among_columns.emplace(read_dense<T>(among_columns_));
    }
    const matrix_view<const T> rows = between.const_tiles()[0];
    const sinkhorn::CostsOfDivergence<T> costs{rows, among_rows ? among_rows->const_tiles()[0] : rows,
                                               among_columns ? among_columns->const_tiles()[0] : rows};
    find<A>(rows.rows(), [&](const sinkhorn::Marginals& masses, const sinkhorn::TransportOptions& how) {
      return sinkhorn::divergence<T, A>(context(), costs, masses, how);
    });
  }

  template <class A, class Solve>
  void find(Index own_rows, const Solve& solve) {
    files_.read(work(), own_rows);
    files_.make_uniform(own_rows);
    begin_iterations("transporting", {{}, {}, own_rows});
    const sinkhorn::Divergence<A> found = solve(files_.of_each()[0], transports());
    end_iterations();
    const bool is_none = found.outcome.status == sinkhorn::Status::numerical_limit && !std::isfinite(found.value);
    const double mass = is_none ? found.value : found.mass;
    std::vector<sinkhorn::TransportStage> stages;
    for (std::size_t i = 0; i < found.stages.size(); ++i) {
      stages.insert(stages.end(), found.stages[i].begin(), found.stages[i].end());
      transports_.resize(stages.size(), std::array{"between both", "within the rows", "within the columns"}[i]);
    }
    conclude({{found.outcome, {0, found.outcome.error, mass}, iterations_of(stages), stages}});
    values_ = found;
    const auto row_gradient = as_doubles(found.row_gradient);
    if (has_images()) {
      draw_masses(files_.of_each()[0]);
      draw_image("What the divergence changes by with masses of " + options_.images[0].path, row_gradient);
    }
    write_vectors({row_gradient}, {as_doubles(found.column_gradient)});
  }

  [[nodiscard]] std::string headline() const override {
    return fmt::format("S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2   {}{}", costs_text(),
                       options_.how.rho.is_balanced() ? "" : fmt::format(", rho {}", options_.how.rho.rows));
  }

  void report_own(Report& report, PageFacts& page) const override {
    const auto& [value, between, within_rows, within_columns, gap, rounding, mass] = values_;
    const bool is_rounding = value != 0 && std::abs(value) <= rounding;
    report.fact_in_row("value", "divergence", value);
    report.fact_in_row("rounding", "bound of its rounding", rounding, "{:.2e}");
    report.line("value", "{:.10g}{}; duality gap {:.2g}", value,
                is_rounding ? fmt::format(" (rounding alone may give {:.2g})", rounding) : "", gap);
    report.line("OT", "rows to columns {:.10g}, among the rows {:.10g}, among the columns {:.10g}", between,
                within_rows, within_columns);
    report.fact_in_row("epsilon", "epsilon", options_.how.epsilon);
    report.fact("rho", number_or_null(options_.how.rho.rows));
    if (!options_.how.rho.is_balanced()) report.row("rho", "{:.10g}", options_.how.rho.rows);
    report.fact("marginals", nlohmann::ordered_json{{"rows", name_or_null(options_.rows)},
                                                    {"columns", name_or_null(options_.columns)}});
    report.fact("among", nlohmann::ordered_json{{"rows", name_or_null(among_rows_.path)},
                                                {"columns", name_or_null(among_columns_.path)}});
    report.fact("transports",
                nlohmann::ordered_json{{"between", between}, {"rows", within_rows}, {"columns", within_columns}});
    report.row("OT between both", "{:.10g}", between);
    report.row("OT within the rows", "{:.10g}", within_rows);
    report.row("OT within the columns", "{:.10g}", within_columns);
    report.fact_in_row("duality_gap", "duality gap", gap, "{:.2e}");
    report.fact("mass", mass);
    report.fact_or_null("row_gradient", options_.of_rows);
    report.fact_or_null("column_gradient", options_.of_columns);
    auto stages = json_of(page.stages);
    for (std::size_t k = 0; k < stages.size(); ++k) stages[k]["transport"] = transports_[k];
    report.fact("stages", stages);
    page.transports = transports_;
    page.number = {fmt::format("{:.6g}", value), "divergence"};
    page.next_stage =
        "a smaller epsilon, or the next of the three transports: between both, within the rows, within the columns";
  }

  InputFile among_rows_, among_columns_;  // costs; both none: those of IN, or of points
  MarginalFiles files_;
  sinkhorn::DivergenceValues values_;
  std::vector<std::string> transports_;  // which of the three each stage is of
};

}  // namespace

PLAIT_JOB(divergence, DivergenceJob)

}  // namespace plait::cli
