// plait balance: one factor for each row of a symmetric matrix, which gives all rows and columns one sum.
#include "plait/sinkhorn/balance/balance.hpp"

#include <limits>

#include "plait/sinkhorn/scaling/scale.hpp"

#include "cli/scaling/job.hpp"

namespace plait::cli {

namespace {

constexpr const char* balance_footer =
    R"(B = diag(x) A diag(x), with the factors x that give all rows and columns of B one sum. Rows of A without entries are
masked: their factors are NaN in the file, and their rows of B are 0. If no factors exist, the command says why, and
writes nothing.

Example: the factors of a contact matrix
  mpirun -n 2 plait balance contacts.mtx -o weights.npy)";

class Balance final : public ScalingJob {
 public:
  void options(Options& command) override {
    command.describe("Give all rows and columns of a symmetric matrix one sum:  B = diag(x) A diag(x)", balance_footer);
    command.reads("IN", file_, fmt::format("A: {} of numbers >= 0, symmetric", matrix_file))->required();
    command
        .writes("-o,--output", options_.of_rows, kind::npy, "The factors x, N x 1, as a .npy file; NaN for masked rows")
        ->group(group::one_of);
    command
        .writes("--matrix", options_.output, kind::sparse,
                "B: a .npy file, or of a sparse A a Matrix Market file .mtx; may be IN itself", {"IN"})
        ->group(group::one_of);
    add_value(command, "--sum", sum_, parse_positive_number, "NUMBER", "Wanted sum of each row of B; 1 by default");
    add_precision(command, options_, {Precision::f64, Precision::mixed});
    add_limits(command, options_, most_in_all);
    command.host(host_options());
  }

 private:
  std::vector<Index> look_at_files() override {
    describe_input();
    const auto* header = sparse_header(file_);
    if (header == nullptr) mpi::agreed(context(), [&] { expect_dense_output("--matrix", "matrix"); });
    return header != nullptr ? std::vector{sparse_bytes(*header, context().size())} : phases_of(file_, 0);
  }

  void compute() override {
    with_numbers_of(precision_, [&]<class T, class A>() {
      sparse_header(file_) != nullptr ? balance_sparse<T>() : balance_dense<T>();
    });
  }

  template <class T>
  void balance_dense() {
    auto matrix = read_dense<T>(file_);
    const matrix_view<T> rows = matrix.tiles()[0];
    page_.swept_bytes = layout::elements(file_.shape) * Index{sizeof(T)};
    const auto x = factors_of(matrix_view<const T>(rows));
    const auto wanted = wanted_sums(x, rows.rows());
    sinkhorn::balance_in_place<T>(rows, wanted.first_row, x, threads());
    conclude({{page_.outcome, looked_at<T>(rows, wanted), page_.outcome.iterations}});
    write_rows(work(), options_.output, std::move(matrix), file_.order);
    write_factors(x, wanted);
  }

  template <class T>
  void balance_sparse() {
    auto rows = read_sparse_input<T>();
    page_.swept_bytes = bytes_of(rows);
    const auto x = factors_of(rows);
    const auto wanted = wanted_sums(x, rows.rows());
    sinkhorn::balance_in_place<T>(rows, x, threads());
    conclude({{page_.outcome, looked_at<T>(rows, wanted), page_.outcome.iterations}});
    using enum io::MatrixMarketSymmetry;
    const auto symmetry = sparse_header(file_)->symmetry == symmetric ? symmetric : general;
    write_sparse(context(), options_.output, rows, symmetry);
    write_factors(x, wanted);
  }

  template <class Rows>
  std::vector<double> factors_of(const Rows& rows) {
    begin_iterations("balancing", {{input()}, {{"precision", name(precision_)}, {"sum", sum_}}, rows.rows()});
    auto how = limits();
    if (sparse_header(file_) != nullptr) how.most_support_bytes = most_support_bytes();
    auto found = sinkhorn::balance(context(), rows, sum_, how);
    end_iterations();
    page_.outcome = found.outcome;
    masked_ = found.masked;
    if (masked_ > 0 && masked_ == std::ssize(found.x)) {
      throw ArgumentError(fmt::format("{}: all entries are 0, expected one above", file_.path));
    }
    if (const auto& its = found.outcome; its.is_out_of_range) {
      throw NoResult(std::string(name(its.status)), fmt::format("{}; nothing was written", its.reason));
    }
    return std::move(found.x);
  }

  /// What rows and columns that are not masked are to sum up to: those with a factor.
  sinkhorn::CheckedMarginals wanted_sums(const std::vector<double>& factors, Index rows) {
    const Index first_row = mpi::sum_below(context().comm(), rows);
    return mpi::agreed(context(), [&] {
      sinkhorn::CheckedMarginals wanted;
      for (const double factor : factors) {
        wanted.columns.push_back(factor == 0 ? 0 : sum_);
        wanted.total += wanted.columns.back();
      }
      const auto first = wanted.columns.begin() + first_row;
      wanted.rows.assign(first, first + rows);
      wanted.first_row = first_row;
      wanted.all_rows = static_cast<Index>(factors.size());
      return wanted;
    });
  }

  /// Those of this rank's rows, NaN for masked ones.
  void write_factors(const std::vector<double>& factors, const sinkhorn::CheckedMarginals& wanted) {
    const auto own = mpi::agreed(context(), [&] {
      const auto first = factors.begin() + wanted.first_row;
      std::vector<double> part(first, first + static_cast<Index>(wanted.rows.size()));
      std::ranges::replace(part, 0.0, std::numeric_limits<double>::quiet_NaN());
      return part;
    });
    write_row_vectors({own});
  }

  [[nodiscard]] std::string headline() const override {
    const auto* header = sparse_header(file_);
    return fmt::format("B = diag(x) A diag(x)   A is {}{}, {}; rows of B sum up to {}", layout::to_string(file_.shape),
                       header != nullptr ? fmt::format(", sparse: {} entries in the file", header->entries) : "",
                       name(precision_), sum_);
  }

  void report_own(Report& report, PageFacts& page) const override {
    report.fact("output", output_json(options_.of_rows));
    report.fact_or_null("matrix", options_.output);
    report.fact_in_row("sum", "wanted sum of a row", sum_);
    report.fact_in_row("masked", "masked rows", masked_);
    report.line("masked", "{} of {} without entries", masked_, counted(file_.shape.rows, "row"));
    if (const auto* header = sparse_header(file_)) report.fact("entries", header->entries);
    page.plan = "the balanced matrix";
    page.sums = {"row"};
  }

  double sum_ = 1;
  Index masked_ = 0;
};

}  // namespace

PLAIT_JOB(balance, Balance)

}  // namespace plait::cli
