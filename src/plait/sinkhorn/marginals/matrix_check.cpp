#include "plait/sinkhorn/marginals/matrix_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

namespace {

/// `alive` tells of all columns whether this rank's rows let them live.
void find_dead_columns(mpi::Context& context, std::vector<std::uint8_t>& alive,
                       std::span<const CheckedMarginals> problems, std::string_view dead, FirstFailure& failure) {
  collective::allreduce(context, std::span<std::uint8_t>(alive), simd::ReduceOperation::max);
  failure.check_each(context, [&](std::size_t k) {
    const CheckedMarginals& marginals = problems[k];
    for (std::size_t j = 0; j < alive.size(); ++j) {
      if (alive[j] != 0 || marginals.columns[j] == 0) continue;
      fail_dead(marginals.names.column(), static_cast<Index>(j), dead, marginals.columns[j]);
    }
  });
}

/// Goes through this rank's rows, once for all problems. `is_allowed` and `counts` judge an entry: whether it may be
/// there, and whether a row and a column that have a marginal may live on it.
template <class T, class Allowed, class Counts>
void look_through(mpi::Context& context, matrix_view<const T> rows, std::span<const CheckedMarginals> problems,
                  Allowed is_allowed, Counts counts, std::string_view expected, std::string_view dead,
                  FirstFailure& failure) {
  std::vector<std::uint8_t> alive;  // columns
  std::vector<std::uint8_t> lives;  // rows
  Index wrong_row = rows.rows();    // none
  mpi::agreed(context, [&] {
    alive.resize(static_cast<std::size_t>(rows.columns()));
    lives.resize(static_cast<std::size_t>(rows.rows()));
    for (Index i = 0; i < rows.rows() && wrong_row == rows.rows(); ++i) {
      const T* row = rows.data() + i * rows.leading_dimension();
      unsigned wrong = 0;
      unsigned any = 0;
      for (Index j = 0; j < rows.columns(); ++j) {
        const auto entry = simd::widened<simd::FloatOf<T>>(row[j]);
        wrong |= static_cast<unsigned>(!is_allowed(entry));
        const auto here = static_cast<unsigned>(counts(entry));
        any |= here;
        alive[static_cast<std::size_t>(j)] = static_cast<std::uint8_t>(alive[static_cast<std::size_t>(j)] | here);
      }
      lives[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(any);
      if (wrong != 0) wrong_row = i;
    }
  });
  failure.check_each(context, [&](std::size_t k) {
    const CheckedMarginals& marginals = problems[k];
    for (Index i = 0; i < rows.rows(); ++i) {
      const Index number = marginals.first_row + i;
      const T* row = rows.data() + i * rows.leading_dimension();
      for (Index j = 0; i == wrong_row && j < rows.columns(); ++j) {
        const auto entry = simd::widened<simd::FloatOf<T>>(row[j]);
        if (is_allowed(entry)) continue;
        throw ArgumentError(
            fmt::format("the entry in {} is {}, expected {}", marginals.names.place(number, j), entry, expected));
      }
      const double marginal = marginals.rows[static_cast<std::size_t>(i)];
      if (lives[static_cast<std::size_t>(i)] == 0 && marginal > 0) {
        fail_dead(marginals.names.row(), number, dead, marginal);
      }
    }
  });
  find_dead_columns(context, alive, problems, dead, failure);
}

}  // namespace

void fail_dead(std::string_view what, Index number, std::string_view dead, double marginal) {
  throw ArgumentError(
      fmt::format("{} {} has {}, but is to sum up to {}: no scaling does that", what, number, dead, marginal));
}

template <class T>
void check_matrix(mpi::Context& context, matrix_view<const T> rows, const CheckedMarginals& marginals) {
  using Number = simd::FloatOf<T>;
  constexpr Number largest = std::numeric_limits<Number>::max();
  FirstFailure failure(1);
  look_through<T>(
      context, rows, {&marginals, 1}, [](Number entry) { return entry >= 0 && entry <= largest; },
      [](Number entry) { return entry > 0; }, "a finite number >= 0", "only zeros", failure);
  failure.expect_none(context);
}

template <class T>
void check_matrix(mpi::Context& context, const layout::SparseRows<T>& rows, const CheckedMarginals& marginals) {
  constexpr const char* zeros = "only zeros";
  std::vector<std::uint8_t> alive;
  mpi::agreed(context, [&] {
    alive.resize(marginals.columns.size());
    for (Index i = 0; i < rows.rows(); ++i) {
      const auto columns = rows.columns_of(i);
      const auto values = rows.values_of(i);
      bool lives = false;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        if (!(values[k] >= 0 && values[k] <= std::numeric_limits<T>::max())) {
          throw ArgumentError(fmt::format("the entry in {} is {}, expected a finite number >= 0",
                                          marginals.names.place(marginals.first_row + i, Index{columns[k]}),
                                          values[k]));
        }
        if (!(values[k] > 0)) continue;
        lives = true;
        alive[columns[k]] = 1;
      }
      const double marginal = marginals.rows[static_cast<std::size_t>(i)];
      if (lives || marginal == 0) continue;
      fail_dead(marginals.names.row(), marginals.first_row + i, zeros, marginal);
    }
  });
  FirstFailure failure(1);
  find_dead_columns(context, alive, {&marginals, 1}, zeros, failure);
  failure.expect_none(context);
}

template <class T>
double check_costs(mpi::Context& context, matrix_view<const T> rows, std::span<const CheckedMarginals> problems) {
  using Number = simd::FloatOf<T>;
  constexpr Number largest = std::numeric_limits<Number>::max();
  Number highest = 0;
  FirstFailure failure(problems.size());
  look_through<T>(
      context, rows, problems, [](Number entry) { return entry >= -largest; },
      [&highest](Number entry) {
        if (entry > largest) return false;
        highest = std::max(highest, std::abs(entry));
        return true;
      },
      "a number above -infinity", "only costs of +infinity", failure);
  failure.expect_none(context);
  return mpi::all_reduce(context.comm(), static_cast<double>(highest), mpi::Operation::maximum());
}

template void check_matrix(mpi::Context&, matrix_view<const double>, const CheckedMarginals&);
template void check_matrix(mpi::Context&, matrix_view<const float>, const CheckedMarginals&);
template void check_matrix(mpi::Context&, matrix_view<const simd::BFloat16>, const CheckedMarginals&);
template void check_matrix(mpi::Context&, const layout::SparseRows<double>&, const CheckedMarginals&);
template void check_matrix(mpi::Context&, const layout::SparseRows<float>&, const CheckedMarginals&);
template double check_costs(mpi::Context&, matrix_view<const double>, std::span<const CheckedMarginals>);
template double check_costs(mpi::Context&, matrix_view<const float>, std::span<const CheckedMarginals>);

}  // namespace plait::sinkhorn
