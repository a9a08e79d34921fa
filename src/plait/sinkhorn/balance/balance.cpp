#include "plait/sinkhorn/balance/balance.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"

namespace plait::sinkhorn {

namespace {

using schedule::Binding;

/// Of one problem; `v` is `u`, for all rows.
template <class Rows>
class Balancing final : public Method {
 public:
  /// \param marginals  which become 0 for rows that are masked
  Balancing(mpi::Context& context, Rows& rows, double sum, CheckedMarginals& marginals)
      : Method({&marginals, 1}),
        context_(context),
        matrix_(rows),
        sum_(sum),
        first_(static_cast<std::size_t>(marginals.first_row)),
        products_of_all_(mpi::agreed(
            context, [&, counts = mpi::all_gather(context.comm(), static_cast<Index>(marginals.rows.size()))] {
              return collective::all_gather_schedule(context, counts, Index{sizeof(double)});
            })) {
    mpi::agreed(context, [&] {
      x_.assign(marginals.columns.size(), 1.0);
      products_.resize(marginals.columns.size());
      own_.resize(marginals.rows.size());
    });
    multiply();
    mask(marginals);
  }

  /// The error is that of the x before it moves on.
  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) override {
    if (!are_products_of_x_) multiply();
    double distance = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_[i] != 0) distance += std::abs(x_[i] * products_[i] - sum_);
    }
    const double total = problem(0).total;
    found.front().error = total > 0 ? distance / total : 0;
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    are_products_of_x_ = false;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_[i] == 0) continue;
      x_[i] = std::sqrt(sum_ * x_[i] / products_[i]);
      if (!(x_[i] > 0) || !std::isfinite(x_[i])) return {0};
    }
    return {};
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t /*problem*/) override {
    return Iterate{std::span(x_), false, problem(0).columns};
  }
  void find_slopes(std::size_t /*problem*/, std::span<double> slopes) override {
    for (std::size_t i = 0; i < x_.size(); ++i) slopes[i] = x_[i] == 0 ? 0 : sum_ - x_[i] * products_[i];
  }

  [[nodiscard]] std::vector<Feasibility> look_for_proof(std::span<const std::size_t> /*problems*/) override {
    const RowHeights asked{&problem(0), own_part()};
    return matrix_.feasibility(context_, {&asked, 1});
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    return {iterate::End::numbers, fmt::format("factors or sums left the range of double in iteration {}", iteration)};
  }
  [[nodiscard]] std::string at_limit() const override { return matrix_.at_limit(); }

  void save(iterate::Checkpoint& checkpoint) const override {
    checkpoint.by_rank["u"].assign(own_part().begin(), own_part().end());
    checkpoint.shared["v"] = x_;
  }
  void resume(const iterate::Checkpoint& checkpoint) override {
    take(checkpoint.shared, "v", "factors of rows", std::span(x_));
    are_products_of_x_ = false;
  }

  [[nodiscard]] Balance balance(Outcome outcome) && { return {std::move(outcome), std::move(x_), masked_}; }

 private:
  [[nodiscard]] std::span<const double> own_part() const { return std::span(x_).subspan(first_, own_.size()); }

  void multiply() {
    matrix_.multiply(x_.data(), own_.data());
    products_of_all_.start({{Binding::input(std::as_bytes(std::span(own_))),
                             Binding::output(std::as_writable_bytes(std::span(products_)))}});
    products_of_all_.wait();
    are_products_of_x_ = true;
  }

  void mask(CheckedMarginals& marginals) {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (products_[i] != 0) continue;
      ++masked_;
      x_[i] = 0;
      marginals.columns[i] = 0;
    }
    std::copy_n(marginals.columns.begin() + marginals.first_row, marginals.rows.size(), marginals.rows.begin());
    marginals.total = sum_ * static_cast<double>(static_cast<Index>(x_.size()) - masked_);
  }

  mpi::Context& context_;
  Rows& matrix_;
  double sum_;
  std::size_t first_;
  schedule::Schedule products_of_all_;
  std::vector<double> x_;
  std::vector<double> products_;   // A x
  std::vector<double> own_;        // of this rank's rows
  bool are_products_of_x_ = true;  // or of the x before
  Index masked_ = 0;
};

/// Rows in any form.
template <class Matrix>
Balance balanced(mpi::Context& context, const Matrix& matrix, double sum, const Limits& limits) {
  const Index own_columns = columns_of(matrix);
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("sum", sum);
    name_arguments(limits, arguments);
    expect_valid(limits);
    if (sum > 0 && std::isfinite(sum)) return;
    throw ArgumentError(fmt::format("rows are to sum up to {}, expected a finite number > 0", sum));
  });
  const Index columns = mpi::all_reduce(context.comm(), own_columns, mpi::Operation::maximum());
  CheckedMarginals marginals = zero_marginals(context, matrix.rows(), columns);
  mpi::agreed(context, [&] {
    if (own_columns == columns && marginals.all_rows == columns) return;
    throw ArgumentError(
        fmt::format("the matrix is {} x {}, expected as many rows as columns", marginals.all_rows, own_columns));
  });
  check_matrix(context, matrix, {&marginals, 1});
  expect_symmetric(context, matrix);
  std::ranges::fill(marginals.rows, sum);
  std::ranges::fill(marginals.columns, sum);
  auto rows = mpi::agreed(context, [&] { return swept_rows<double>(context, matrix, 1, limits.most_support_bytes); });
  Balancing balancing(context, rows, sum, marginals);
  auto outcomes = iterated(context, balancing, limits, {roundoff_of<double>()});
  return std::move(balancing).balance(std::move(outcomes.front()));
}

}  // namespace

template <class T>
Balance balance(mpi::Context& context, matrix_view<const T> rows, double sum, const Limits& limits) {
  return balanced(context, rows, sum, limits);
}

template <class T>
Balance balance(mpi::Context& context, const layout::SparseRows<T>& rows, double sum, const Limits& limits) {
  return balanced(context, rows, sum, limits);
}

namespace {

template <class Rows>
void multiply(Rows& rows, Index first_row, std::span<const double> x, int threads) {
  const auto own = x.subspan(static_cast<std::size_t>(first_row));
  for_all_entries(rows, threads, [&]<class T>(std::size_t i, std::size_t j, T& entry) {
    entry = static_cast<T>(balanced_entry(static_cast<double>(entry), own[i], x[j]));
  });
}

}  // namespace

template <class T>
void balance_in_place(matrix_view<T> rows, Index first_row, std::span<const double> x, int threads) {
  multiply(rows, first_row, x, threads);
}

template <class T>
void balance_in_place(layout::SparseRows<T>& rows, std::span<const double> x, int threads) {
  PLAIT_ASSERT(static_cast<Index>(x.size()) == rows.shape.columns, "there is a factor for each row");
  multiply(rows, rows.first_row, x, threads);
}

#define PLAIT_INSTANTIATE(T)                                                                    \
  template Balance balance(mpi::Context&, matrix_view<const T>, double, const Limits&);         \
  template Balance balance(mpi::Context&, const layout::SparseRows<T>&, double, const Limits&); \
  template void balance_in_place(matrix_view<T>, Index, std::span<const double>, int);          \
  template void balance_in_place(layout::SparseRows<T>&, std::span<const double>, int)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
