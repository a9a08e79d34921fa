#include "plait/sinkhorn/coffee/scale_in_place.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/methods.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

namespace {

/// The next sweep over the rows multiplies the columns.
template <class T, class A>
class Fused final : public InPlaceIteration<A> {
 public:
  Fused(matrix_view<T> matrix, std::span<const double> rows, std::span<const double> columns)
      : InPlaceIteration<A>(rows, columns), matrix_(matrix), by_column_(columns.size(), A{1}) {}

  /// K(i, j) ← a[i] K(i, j) b[j], with the a that give the rows of K diag(b) their sums.
  void rows(std::span<A> sums) override {
    Factors<A>& of = this->factors();
    for (std::size_t j = 0; j < by_column_.size(); ++j) of.v[j] *= by_column_[j];
    std::array<A, simd::most_rows_at_a_time> of_rows{};
    for_each_block(matrix_, rows_at_a_time(matrix_.columns(), Index{sizeof(T)}),
                   [&](Index first, const auto& block, const auto& early, const auto& late) {
                     kernels_.row_sums(as_const(block), by_column_.data(), of_rows.data(), early);
                     for (Index i = 0; i < block.rows; ++i) {
                       A& factor = of_rows[static_cast<std::size_t>(i)];
                       factor = of.of_row(first + i, factor);
                       of.u[static_cast<std::size_t>(first + i)] *= factor;
                     }
                     kernels_.rescale(block, of_rows.data(), by_column_.data(), sums.data(), late);
                   });
  }

  void columns(std::span<const A> sums) override { rescale(0, sums, 0); }
  [[nodiscard]] Index steps(Index /*columns*/) const override { return 1; }
  void rescale(Index first, std::span<const A> sums, Index /*step*/) override {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const std::size_t j = static_cast<std::size_t>(first) + k;
      by_column_[j] = this->factors().of_column(j, sums[k]);
    }
  }

 private:
  matrix_view<T> matrix_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
  std::vector<A> by_column_;
};

/// COFFEE's: the columns are multiplied in a pass of their own.
template <class A>
class Algorithm final : public InPlaceIteration<A> {
 public:
  Algorithm(InPlaceForm form, matrix_view<A> matrix, std::span<const double> rows, std::span<const double> columns,
            Blocking blocking)
      : InPlaceIteration<A>(rows, columns),
        form_(form),
        blocking_(blocking),
        matrix_(matrix),
        by_column_(columns.size(), A{1}),
        ones_(static_cast<std::size_t>(std::max(blocking.rows, matrix.columns())), A{1}) {}

  void rows(std::span<A> sums) override {
    for (Index i = 0; i < matrix_.rows(); ++i) {
      const A factor = this->factors().of_row(i, sum_of_row(i));
      this->factors().u[static_cast<std::size_t>(i)] *= factor;
      A* const elements = row(i);
      for (Index j = 0; j < matrix_.columns(); ++j) elements[j] *= factor;
    }
    add_columns(sums.data());
  }

  void columns(std::span<const A> sums) override {
    find_factors(0, sums);
    multiply_columns({0, matrix_.rows(), 0, matrix_.columns()});
  }

  [[nodiscard]] Index steps(Index columns) const override {
    const Index rows = rows_of_step(columns);
    return std::max(Index{1}, (matrix_.rows() + rows - 1) / rows);
  }
  void rescale(Index first, std::span<const A> sums, Index step) override {
    if (step == 0) find_factors(first, sums);
    const auto count = static_cast<Index>(sums.size());
    const Index begin = step * rows_of_step(count);
    multiply_columns({begin, std::min(matrix_.rows(), begin + rows_of_step(count)), first, first + count});
  }

 private:
  /// Rows [begin, end) and columns [first, last).
  struct Part {
    Index begin, end;
    Index first, last;
  };

  /// So many that a step takes well under a tenth of a millisecond, and whole blocks of Algorithm 3.
  [[nodiscard]] static Index rows_of_step(Index columns) {
    constexpr Index elements = Index{1} << 16;
    constexpr Index block = 8;
    return std::max(Index{1}, elements / block / std::max(Index{1}, columns)) * block;
  }

  [[nodiscard]] A* row(Index i) const noexcept { return matrix_.data() + i * matrix_.leading_dimension(); }

  void find_factors(Index first, std::span<const A> sums) {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const auto j = static_cast<std::size_t>(first) + k;
      by_column_[j] = this->factors().of_column(j, sums[k]);
      this->factors().v[j] *= by_column_[j];
    }
  }

  [[nodiscard]] A sum_of_row(Index i) const {
    const Index columns = matrix_.columns();
    const A* const elements = row(i);
    A sum{0};
    if (form_ == InPlaceForm::blocked) {
      kernels_.row_sums({elements, 1, columns, std::max(Index{1}, columns)}, ones_.data(), &sum, {});
    } else {
      for (Index j = 0; j < columns; ++j) sum += elements[j];
    }
    return sum;
  }

  void add_columns(A* sums) const {
    if (form_ == InPlaceForm::blocked) {
      return for_each_part({0, matrix_.rows(), 0, matrix_.columns()}, [&](Index j, const auto& block) {
        kernels_.column_sums(as_const(block), ones_.data(), sums + j, {});
      });
    }
    for_each_element({0, matrix_.rows(), 0, matrix_.columns()},
                     [sums](Index j, const A& element) { sums[j] += element; });
  }

  void multiply_columns(const Part& part) const {
    const A* const factors = by_column_.data();
    if (form_ == InPlaceForm::blocked) {
      return for_each_part(part, [&](Index j, const auto& block) { kernels_.multiply_columns(block, factors + j); });
    }
    for_each_element(part, [factors](Index j, A& element) { element *= factors[j]; });
  }

  /// Row by row, or down each column.
  template <class F>
  void for_each_element(const Part& part, const F& f) const {
    if (form_ == InPlaceForm::by_rows) {
      for (Index i = part.begin; i < part.end; ++i) {
        A* const elements = row(i);
        for (Index j = part.first; j < part.last; ++j) f(j, elements[j]);
      }
    } else {
      for (Index j = part.first; j < part.last; ++j) {
        for (Index i = part.begin; i < part.end; ++i) f(j, row(i)[j]);
      }
    }
  }

  template <class F>
  void for_each_part(const Part& part, F&& f) const {
    for (Index j = part.first; j < part.last; j += blocking_.columns) {
      for (Index i = part.begin; i < part.end; i += blocking_.rows) {
        f(j, simd::RowBlock<A>{row(i) + j, std::min(blocking_.rows, part.end - i),
                               std::min(blocking_.columns, part.last - j), matrix_.leading_dimension()});
      }
    }
  }

  InPlaceForm form_;
  Blocking blocking_;
  matrix_view<A> matrix_;
  std::vector<A> by_column_;
  std::vector<A> ones_;
  simd::ScalingKernels<A, A> kernels_ = simd::scaling_kernels<A, A>();
};

/// Of rows and columns that are to have a sum: in others all become 0, as they should.
template <class T>
Index positive_entries(matrix_view<const T> rows, const CheckedMarginals& marginals) {
  Index positive = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (marginals.rows[static_cast<std::size_t>(i)] == 0) continue;
    const T* row = rows.data() + i * rows.leading_dimension();
    for (Index j = 0; j < rows.columns(); ++j) {
      positive += static_cast<Index>(simd::widened<simd::FloatOf<T>>(row[j]) > 0 &&
                                     marginals.columns[static_cast<std::size_t>(j)] > 0);
    }
  }
  return positive;
}

/// Those that are to have a sum, but whose factors, products over all iterations, left the range: the plan may be
/// sound.
template <class A>
Index without_factor(const std::vector<A>& factors, std::span<const double> marginals) {
  Index count = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    count += static_cast<Index>(marginals[i] > 0 && !(factors[i] > 0 && std::isfinite(factors[i])));
  }
  return count;
}

/// In place, of one problem. Where columns are rescaled while their sums are under way, an iteration that may be the
/// last one, as its number or the error before it tells, rescales nothing meanwhile, as rows and not columns are to
/// have just their sums at the end.
template <class T, class A>
class InPlaceMethod final : public Method {
 public:
  InPlaceMethod(mpi::Context& context, matrix_view<T> rows, const CheckedMarginals& marginals,
                InPlaceIteration<A>& iteration, const ColumnExchange& exchange, const Limits& limits)
      : Method({&marginals, 1}),
        context_(context),
        rows_(rows),
        positive_(positive_entries<T>(rows, marginals)),
        iteration_(iteration),
        columns_(marginals.columns.size()),
        near_(far * limits.tolerance * marginals.total),
        left_(limits.most_iterations),
        sums_over_ranks_(context, exchange.way, static_cast<Index>(columns_), 1) {
    if (exchange.meanwhile == Meanwhile::rescale) {
      meanwhile_.emplace(context, exchange.way, static_cast<Index>(columns_), 1, &iteration);
    }
    mpi::agreed(context, [&] { sums_.resize(columns_ + 1); });
  }

  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) override {
    std::ranges::fill(sums_, A{0});
    Factors<A>& factors = iteration_.factors();
    factors.starved_rows = factors.starved_columns = 0;
    iteration_.rows(std::span(sums_).first(columns_));
    sums_.back() = static_cast<A>(factors.starved_rows + without_factor(factors.u, factors.row_marginals));
    has_rescaled_ = --left_ > 0 && off_ > near_ && meanwhile_;
    (has_rescaled_ ? *meanwhile_ : sums_over_ranks_)(sums_);
    off_ = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
      off_ += std::abs(static_cast<double>(sums_[j]) - factors.column_marginals[j]);
    }
    const double total = problem(0).total;
    found.front() = {total > 0 ? off_ / total : off_,
                     sums_.back() > 0 || without_factor(factors.v, factors.column_marginals) > 0};
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    if (!std::exchange(has_rescaled_, false)) iteration_.columns(std::span(sums_).first(columns_));
    return iteration_.factors().starved_columns > 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>();
  }

  /// Only while the zeros of the matrix are those that it had before it was scaled.
  [[nodiscard]] std::vector<Feasibility> look_for_proof(std::span<const std::size_t> problems) override {
    const Index lost =
        mpi::all_reduce(context_.comm(), positive_ - positive_entries<T>(rows_, problem(0)), mpi::Operation::maximum());
    if (lost > 0) return Method::look_for_proof(problems);
    const std::vector<A>& u = iteration_.factors().u;
    const auto heights = mpi::agreed(context_, [&] { return std::vector<double>(u.begin(), u.end()); });
    const RowHeights asked{&problem(0), heights};
    return feasibility<T>(context_, rows_, Support::positive, {&asked, 1});
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    return sinkhorn::out_of_range<A>("factors or sums", iteration);
  }

  /// After the last iteration: gives rows their sums again, where columns got theirs.
  void end() {
    if (has_rescaled_) iteration_.rows(std::span(sums_).first(columns_));
  }

 private:
  // Errors fall by a constant factor, which is seldom that large.
  static constexpr double far = 16;

  mpi::Context& context_;
  matrix_view<T> rows_;
  Index positive_;
  InPlaceIteration<A>& iteration_;
  std::size_t columns_;
  double near_;
  Index left_;
  ExchangedSums<A> sums_over_ranks_;
  std::optional<ExchangedSums<A>> meanwhile_;
  bool has_rescaled_ = false;
  double off_ = std::numeric_limits<double>::quiet_NaN();  // what columns were off by after the iteration before
  std::vector<A> sums_;                                    // and how many rows have no factor
};

template <class T>
void expect_suitable(matrix_view<T> rows, InPlaceForm form, const Limits& limits, Blocking blocking,
                     const ColumnExchange& exchange) {
  if (form == InPlaceForm::fused &&
      (exchange.meanwhile != Meanwhile::wait || exchange.leader_rows != LeaderRows::kept)) {
    throw ArgumentError(
        "the fused form has nothing to rescale meanwhile and keeps its rows; expected one of Algorithms 1 to 3");
  }
  if (exchange.meanwhile == Meanwhile::rescale && exchange.way == SumWay::mpi) {
    throw ArgumentError(
        "the update is to overlap with MPI_Allreduce, which returns everything at once; expected another exchange");
  }
  expect_row_major(rows, "the matrix is");
  expect_valid(limits);
  if (blocking.rows < 1 || blocking.columns < 1) {
    throw ArgumentError(
        fmt::format("blocks of {} x {} elements, expected 1 x 1 at least", blocking.rows, blocking.columns));
  }
  if (!limits.checkpoints.keep && limits.checkpoints.from == nullptr) return;
  throw ArgumentError("a state of a matrix that is scaled in place is wanted, expected scaling vectors");
}

}  // namespace

template <class T, class A>
std::unique_ptr<InPlaceIteration<A>> in_place_iteration(InPlaceForm form, matrix_view<T> rows,
                                                        std::span<const double> row_marginals,
                                                        std::span<const double> column_marginals, Blocking blocking) {
  if constexpr (std::is_same_v<T, A>) {
    if (form != InPlaceForm::fused) {
      return std::make_unique<Algorithm<A>>(form, rows, row_marginals, column_marginals, blocking);
    }
  }
  return std::make_unique<Fused<T, A>>(rows, row_marginals, column_marginals);
}

template <class T, class A>
Scaling<A> scale_in_place(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals, InPlaceForm form,
                          const Limits& limits, Blocking blocking, ColumnExchange exchange) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("form", form);
    arguments.add("way of the exchange", exchange.way);
    arguments.add("work meanwhile", exchange.meanwhile);
    arguments.add("rows of the first rank", exchange.leader_rows);
    name_arguments(limits, arguments);
    expect_suitable(rows, form, limits, blocking, exchange);
    if (form == InPlaceForm::fused || std::is_same_v<T, A>) return;
    throw ArgumentError("this form of scaling computes with elements as they are, expected double or float");
  });
  CheckedMarginals checked = checked_marginals(context, rows.rows(), rows.columns(), marginals);
  check_matrix<T>(context, rows, {&checked, 1});
  std::optional<DealtRows<A>> dealt;
  if constexpr (std::is_same_v<T, A>) {
    if (exchange.leader_rows == LeaderRows::dealt) {
      dealt.emplace(context, rows, checked.rows);
      rows = dealt->rows();
      checked.rows = dealt->marginals();
    }
  }
  const auto iteration = mpi::agreed(
      context, [&] { return in_place_iteration<T, A>(form, rows, checked.rows, checked.columns, blocking); });
  InPlaceMethod<T, A> method(context, rows, checked, *iteration, exchange, limits);
  auto outcomes = iterated(context, method, limits, {std::max(roundoff_of<A>(), roundoff_of<T>())});
  method.end();
  Factors<A>& found = iteration->factors();
  if (dealt) found.u = dealt->put_back(found.u);
  return {std::move(outcomes.front()), std::move(found.u), std::move(found.v)};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                                                   \
  template std::unique_ptr<InPlaceIteration<A>> in_place_iteration(                                               \
      InPlaceForm, matrix_view<T>, std::span<const double>, std::span<const double>, Blocking);                   \
  template Scaling<A> scale_in_place(mpi::Context&, matrix_view<T>, const Marginals&, InPlaceForm, const Limits&, \
                                     Blocking, ColumnExchange)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
