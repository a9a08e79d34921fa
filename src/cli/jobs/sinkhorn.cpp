// plait sinkhorn: factors of the rows and of the columns that give a matrix its sums; dense, sparse, on a grid of
// ranks, or to several sums at once.

#include "plait/sinkhorn/coffee/scale_in_place.hpp"
#include "plait/sinkhorn/grid/grid.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

#include "cli/scaling/job.hpp"

namespace plait::cli {

namespace {

using sinkhorn::InPlaceForm;
using sinkhorn::SumWay;

/// The methods: by factors alone, and those that rescale K itself.
std::vector<Choice<std::optional<InPlaceForm>>> methods() {
  return {{"scaling", {}},
          {"in-place", InPlaceForm::fused},
          {"algorithm-1", InPlaceForm::typical},
          {"algorithm-2", InPlaceForm::by_rows},
          {"algorithm-3", InPlaceForm::blocked}};
}

/// A grid of ranks; 0 x 0 is the cheapest one.
layout::Shape parse_grid(std::string_view text) {
  constexpr Index most_ranks = 1'000'000;
  if (text == "auto") return {};
  try {
    const layout::Shape grid = parse_shape(text);
    const bool is_grid = grid.rows >= 1 && grid.columns >= 1 && grid.rows <= most_ranks && grid.columns <= most_ranks;
    if (is_grid) return grid;
  } catch (const Error&) {  // what follows says more
  }
  throw ArgumentError(fmt::format("'{}' is no grid; expected one such as 2x2, or auto", text));
}

constexpr const char* sinkhorn_footer =
    R"(P = diag(u) K diag(v), with the factors u of the rows and v of the columns that give P its sums. If no factors exist,
the command says why, and writes nothing. A Matrix Market file of the coordinate format stays sparse, except with several
marginals, --grid, another --method than scaling, or --precision bf16.

A stopped job goes on from its last checkpoint when the same command runs again with --resume; on as many ranks, with
the same bits.

Example: make a matrix doubly stochastic
  mpirun -n 2 plait sinkhorn K.npy -o P.npy
Example: scale to given sums, and keep the factors only
  mpirun -n 2 plait sinkhorn K.npy --rows r.npy --columns c.npy --row-factors u.npy --column-factors v.npy)";

class Sinkhorn final : public ScalingJob {
 public:
  void options(Options& command) override {
    command.describe("Scale a matrix so that rows and columns have given sums:  P = diag(u) K diag(v)",
                     sinkhorn_footer);
    command.reads("IN", file_, fmt::format("K: {} of numbers >= 0", matrix_file))->required();
    command.writes("-o,--output", options_.output, kind::sparse,
                   "The plan, a .npy file, or of a sparse K a Matrix Market file .mtx; may be IN itself", {"IN"});
    add_vectors(command, options_, "factor");
    CLI::App& app = command;
    for (const char* output : {"--output", "--row-factors", "--column-factors"}) {
      app.get_option(output)->group(group::one_of);
    }
    add_marginals(
        command, options_,
        "Wanted sums of the rows, a vector; without --rows and --columns 1 each, without one of them all alike");
    add_precision(command, options_, {Precision::f64, Precision::f32, Precision::mixed, Precision::bf16});
    add_limits(command, options_, most_in_all);
    add_start(command, options_, "factors");
    add_choice(command, "--method", form_, methods(), "METHOD",
               "Algorithm: {}. scaling reads K once an iteration; in-place rescales K each time; the others are those "
               "of COFFEE, to compare");
    add_choice(command, "--exchange", exchange_.way,
               named({SumWay::chosen, SumWay::mpi, SumWay::ring, SumWay::two_level, SumWay::coffee}), "EXCHANGE",
               "How to sum columns over the ranks, not with --method scaling: {}");
    add_flag(command, "--pipelined", is_pipelined_,
             "With an algorithm-N: rescale columns whose sums have come while others are on their way");
    add_flag(command, "--deal-rows", deals_rows_,
             "With an algorithm-N: deal the rows of a node's first rank to the others of the node");
    add_value(command, "--grid", wanted_grid_, parse_grid, "RxC",
              "Cut K into blocks for a grid of R x C ranks, all of them, or for the cheapest grid: auto. By default "
              "each rank has whole rows");
    command.host(host_options());
  }

  void check() override {
    const bool has_checkpoint = !settings.checkpoint.empty();
    const std::string_view method = method_name();
    const bool is_scaling = !form_;
    const bool has_grid = wanted_grid_.has_value();
    const auto refuse_if = [](bool is_wrong, const std::string& why) {
      if (is_wrong) throw UsageError(why);
    };
    refuse_if(!is_scaling && !options_.start.empty(),
              fmt::format("--start is given, but --method {} begins with the matrix as it is", method));
    refuse_if(!is_scaling && has_checkpoint,
              fmt::format("--checkpoint is given, but --method {} changes all of K, expected scaling", method));
    refuse_if(has_grid && has_checkpoint, "--checkpoint is given, but --grid has none; expected whole rows");
    refuse_if(is_scaling && exchange_.way != SumWay::chosen,
              "--exchange is given, but --method scaling chooses by itself; expected another method");
    refuse_if(has_grid && !is_scaling,
              fmt::format("--grid is given, but --method {} works on whole rows; expected scaling", method));
    refuse_if(has_grid && options_.precision == Precision::bf16,
              "--grid is given, but --precision bf16 is for whole rows; expected f64, f32 or mixed");
    refuse_if((is_pipelined_ || deals_rows_) && !is_of_coffee(),
              fmt::format("{} is given, but --method {} has no update of its own; expected algorithm-1, 2 or 3",
                          is_pipelined_ ? "--pipelined" : "--deal-rows", method));
    refuse_if(is_pipelined_ && exchange_.way == SumWay::mpi,
              "--pipelined is given, but --exchange mpi returns everything at once; expected another exchange");
    refuse_if(
        is_of_coffee() && (options_.precision == Precision::mixed || options_.precision == Precision::bf16),
        fmt::format("--precision {} is given, but --method {} computes with elements as they are; expected f64 or f32",
                    name(options_.precision), method));
    if (is_pipelined_) exchange_.meanwhile = sinkhorn::Meanwhile::rescale;
    if (deals_rows_) exchange_.leader_rows = sinkhorn::LeaderRows::dealt;
  }

 private:
  template <class A>
  using Scalings = std::vector<sinkhorn::Scaling<A>>;

  std::vector<Index> look_at_files() override {
    describe_input();
    files_ = MarginalFiles(context(), options_, file_.shape);
    is_sparse_ = sparse_header(file_) != nullptr && files_.problems() == 1 && !form_ && !wanted_grid_.has_value() &&
                 options_.precision != Precision::bf16;
    mpi::agreed(context(), [&] {
      files_.expect_one_for_all(options_, settings.checkpoint);
      const std::string whole_rows = "one column, or --method scaling with whole rows";
      if (form_) files_.expect_one_for(fmt::format("--method {}", method_name()), whole_rows);
      if (wanted_grid_.has_value()) files_.expect_one_for("--grid", whole_rows);
      if (!is_sparse_) expect_dense_output("--output", "plan");
    });
    if (is_sparse_) return {sparse_bytes(*sparse_header(file_), context().size())};
    if (is_of_coffee() && precision_ == Precision::mixed) precision_ = Precision::f32;
    return phases_of(file_, bytes_beside(), files_.problems());
  }

  /// An element's, of a plan in another type than it is stored in, the copy of dealt rows, or blocks.
  [[nodiscard]] Index bytes_beside() const {
    if (precision_ == Precision::bf16 && !options_.output.empty()) return 4;
    if (deals_rows_) return 2 * element_bytes(precision_);
    return wanted_grid_.has_value() ? element_bytes(precision_) : 0;
  }

  void compute() override {
    if (precision_ == Precision::bf16) return scale_dense<simd::BFloat16, float>();
    with_numbers_of(precision_, [&]<class T, class A>() { is_sparse_ ? scale_sparse<T, A>() : scale_dense<T, A>(); });
  }

  template <class T, class A>
  void scale_dense() {
    auto matrix = read_dense<T>(file_);
    const matrix_view<T> rows = matrix.tiles()[0];
    files_.read(work(), rows.rows());
    const auto marginals = files_.of_each();
    const std::size_t count = marginals.size();
    const auto start = read_start<A>();
    const auto limits = begun(rows.rows(), count);
    Scalings<A> found;
    if (count > 1) {
      found = sinkhorn::scale_batch<T, A>(context(), rows, marginals, limits);
    } else if (wanted_grid_.has_value()) {
      found.push_back(scaled_on_grid<T, A>(matrix, files_.of_all_rows(), limits, start));
    } else if (form_) {
      found.push_back(sinkhorn::scale_in_place<T, A>(context(), rows, marginals[0], *form_, limits, {}, exchange_));
    } else {
      found.push_back(sinkhorn::scale<T, A>(context(), rows, marginals[0], limits, start));
    }
    end_iterations();

    const auto checked = sinkhorn::checked_marginals_of_each(context(), rows.rows(), rows.columns(), marginals);
    std::vector<sinkhorn::MarginalErrors> errors;
    if (count > 1) {
      errors = sinkhorn::marginal_errors<T, A>(context(), rows, found, checked);
    } else {
      if (!form_ && !grid_) sinkhorn::plan_in_place<T, A>(rows, found[0].u, found[0].v, threads());
      errors.push_back(looked_at<T>(rows, checked[0]));
    }
    conclude_with(found, errors);
    page_.swept_bytes = passes() * layout::elements(file_.shape) * Index{sizeof(T)};
    write_rows(work(), options_.output, std::move(matrix), file_.order);
    write_factors(found);
  }

  template <class T, class A>
  void scale_sparse() {
    auto rows = read_sparse_input<T>();
    files_.read(work(), rows.rows());
    const auto marginals = files_.of_each()[0];
    const auto start = read_start<A>();
    auto limits = begun(rows.rows(), 1);
    limits.most_support_bytes = most_support_bytes();
    const Scalings<A> found{sinkhorn::scale<T, A>(context(), rows, marginals, limits, start)};
    end_iterations();

    sinkhorn::plan_in_place<T, A>(rows, found[0].u, found[0].v, threads());
    const auto checked = sinkhorn::checked_marginals(context(), rows.rows(), rows.shape.columns, marginals);
    conclude_with(found, {looked_at<T>(rows, checked)});
    page_.swept_bytes = bytes_of(rows);
    write_sparse(context(), options_.output, rows, io::MatrixMarketSymmetry::general);
    write_factors(found);
  }

  sinkhorn::Limits begun(Index own_rows, std::size_t problems) {
    nlohmann::json settings{{"precision", name(precision_)}};
    if (is_sparse_) settings["sparse"] = true;
    begin_iterations(problems == 1 ? "scaling" : fmt::format("scaling to {} marginals", problems),
                     {{input(), options_.rows, options_.columns, options_.start}, std::move(settings), own_rows});
    return limits();
  }

  template <class A>
  void conclude_with(const Scalings<A>& found, const std::vector<sinkhorn::MarginalErrors>& errors) {
    std::vector<Problem> problems;
    for (std::size_t k = 0; k < found.size(); ++k) {
      problems.push_back({found[k].outcome, errors[k], found[k].outcome.iterations});
    }
    conclude(std::move(problems));
    // The plan of a method in place may have sums where it has no factors.
    const sinkhorn::Outcome& outcome = page_.outcome;
    if (!form_ || !outcome.is_out_of_range) return;
    throw NoResult(std::string(name(outcome.status)),
                   fmt::format("{}: {}; nothing was written", name(outcome.status), outcome.reason));
  }

  template <class A>
  void write_factors(const Scalings<A>& found) {
    std::vector<std::vector<double>> u;
    std::vector<std::vector<double>> v;
    for (const auto& scaling : found) {
      u.push_back(as_doubles(scaling.u));
      v.push_back(as_doubles(scaling.v));
    }
    write_vectors(u, v);
  }

  [[nodiscard]] std::string_view method_name() const {
    const auto all = methods();
    return std::ranges::find(all, form_, &Choice<std::optional<InPlaceForm>>::value)->word;
  }
  /// Those of COFFEE compute with elements as they are.
  [[nodiscard]] bool is_of_coffee() const { return form_ && form_ != InPlaceForm::fused; }

  /// How often an iteration reads or writes the matrix; 0 of COFFEE's algorithms, some of which do it in parts.
  [[nodiscard]] Index passes() const {
    if (form_ == InPlaceForm::fused || wanted_grid_.has_value()) return 2;
    return form_ ? 0 : 1;
  }

  layout::ProcessGrid chosen_grid(Index number_bytes) {
    const layout::Shape given = *wanted_grid_;
    const bool is_automatic = given == layout::Shape{};
    mpi::agreed(context(), [&] {
      if (is_automatic || given.rows * given.columns == context().size()) return;
      throw ArgumentError(fmt::format("--grid: a grid of {} x {} ranks, expected rows x columns = {}", given.rows,
                                      given.columns, context().size()));
    });
    if (!is_automatic) return {static_cast<int>(given.rows), static_cast<int>(given.columns)};
    return sinkhorn::choose_grid(context().machine(), context().placement(), file_.shape, element_bytes(precision_),
                                 number_bytes);
  }

  /// The blocks of the matrix go to their ranks, and come back as the plan; with the factors of this rank's rows, and
  /// of all columns.
  template <class T, class A>
  sinkhorn::Scaling<A> scaled_on_grid(layout::DistributedMatrix<T>& matrix, const sinkhorn::Marginals& marginals,
                                      const sinkhorn::Limits& limits, const std::vector<A>& start) {
    if constexpr (std::is_same_v<T, simd::BFloat16>) {
      throw ArgumentError("blocks of a grid are of f64 or f32");  // refused before
    } else {
      const layout::ProcessGrid grid = chosen_grid(Index{sizeof(A)});
      grid_ = grid;
      const layout::Shape shape = file_.shape;
      auto blocks = mpi::agreed(context(), [&] {
        return layout::DistributedMatrix<T>(
            layout::Layout::blocks(shape, grid.rows, grid.columns, grid.order, StorageOrder::row_major),
            context().rank());
      });
      redistribute::Redistribution(context(), matrix.layout(), blocks.layout()).execute(matrix, blocks);
      const matrix_view<T> block = blocks.tiles()[0];
      auto scaling = sinkhorn::scale_on_grid<T, A>(context(), grid, shape, block, marginals, limits, start);
      sinkhorn::plan_in_place<T, A>(block, scaling.u, scaling.v, threads());
      redistribute::Redistribution(context(), blocks.layout(), matrix.layout()).execute(blocks, matrix);
      const sinkhorn::BlockPlace place = sinkhorn::block_place(grid, shape, context().rank());
      const bool has_rows = grid.column_of(context().rank()) == 0;
      const bool has_columns = grid.row_of(context().rank()) == 0;
      const auto all_u = joined(has_rows ? scaling.u : std::vector<A>(), place.first_row, shape.rows);
      scaling.v = joined(has_columns ? scaling.v : std::vector<A>(), place.first_column, shape.columns);
      const Index own = matrix.tiles()[0].rows();
      const auto first = all_u.begin() + mpi::sum_below(context().comm(), own);
      scaling.u.assign(first, first + own);
      return scaling;
    }
  }

  /// All of a vector of which ranks have parts that don't overlap.
  template <class A>
  std::vector<A> joined(const std::vector<A>& part, Index first, Index length) {
    auto all = mpi::agreed(context(), [&] { return std::vector<A>(static_cast<std::size_t>(length)); });
    std::ranges::copy(part, all.begin() + first);
    collective::allreduce(context(), std::span<A>(all), simd::ReduceOperation::sum);
    return all;
  }

  [[nodiscard]] std::string grid_text() const { return fmt::format("{} x {}", grid_->rows, grid_->columns); }

  [[nodiscard]] int threads() const override { return form_ ? 1 : ScalingJob::threads(); }

  [[nodiscard]] std::string headline() const override {
    const std::size_t count = problems_.size();
    std::string text =
        fmt::format("P = diag(u) K diag(v){}   K is {}, ", count > 1 ? fmt::format(" of {} marginals", count) : "",
                    layout::to_string(file_.shape));
    if (is_sparse_) text += fmt::format("sparse: {} entries in the file, ", sparse_header(file_)->entries);
    text += name(precision_);
    if (!is_sparse_) text += fmt::format(", {}", method_name());
    return grid_ ? fmt::format("{}, on {} ranks", text, grid_text()) : text;
  }

  void report_own(Report& report, PageFacts& /*page*/) const override {
    report_marginals(report);
    report.fact("output", output_json(options_.output));
    report.fact_or_null("row_factors", options_.of_rows);
    report.fact_or_null("column_factors", options_.of_columns);
    report.fact_in_row("method", "method", method_name());
    if (is_sparse_) {
      report.fact_in_row("entries", "entries in the file", sparse_header(file_)->entries);
      return;
    }
    if (problems_.size() > 1) return report_problems(report);
    report.fact("grid", grid_ ? nlohmann::ordered_json{{"rows", grid_->rows}, {"columns", grid_->columns}}
                              : nlohmann::ordered_json());
    if (grid_) report.row("grid of ranks", grid_text());
    report.fact_in_row("exchange", "exchange of sums", sinkhorn::name(exchange_.way));
  }

  std::optional<InPlaceForm> form_;    // none: factors alone
  sinkhorn::ColumnExchange exchange_;  // of the forms
  bool is_pipelined_ = false;
  bool deals_rows_ = false;
  std::optional<layout::Shape> wanted_grid_;  // of blocks, without a form; none: whole rows
  MarginalFiles files_;
  bool is_sparse_ = false;
  std::optional<layout::ProcessGrid> grid_;
};

}  // namespace

PLAIT_JOB(sinkhorn, Sinkhorn)

}  // namespace plait::cli
