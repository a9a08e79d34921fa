#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/sweep/exponential_kernels.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// What came of a sweep over rows.
struct RowsSwept {
  Index unreached = 0;  // how many rows that are to have a sum reach no column
  double wanted = 0;    // what the others are to sum up to
};

/// The vectors of one of several problems that share costs.
template <class A>
struct LogVectors {
  std::span<const double> marginals;  // of the rows; not looked at where they are to have sums in common
  std::span<A> f;
  std::span<const A> g;
  std::span<A> sums;  // where the columns are summed up

  /// Those of some of the rows.
  [[nodiscard]] LogVectors of_rows(Index first, Index count) const {
    const auto from = static_cast<std::size_t>(first);
    const auto number = static_cast<std::size_t>(count);
    return {marginals.empty() ? marginals : marginals.subspan(from, number), f.subspan(from, number), g, sums};
  }
};

/// Sums between these lost nothing to underflow or overflow that could be seen in a plan.
template <class A>
inline constexpr A lowest_sum = std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();

/// Sweeps over a rank's rows of costs in the logarithmic domain. Potentials are in units of epsilon here. Local.
template <class T, class A>
class LogSweep {
 public:
  /// \param together  the most problems of which rows are to have sums in common
  LogSweep(matrix_view<const T> costs, double epsilon, Index together = 1);

  /// Gives the rows of each problem their sums, and adds what they then have to those of the columns:
  ///
  ///     f[i] ← log r[i] - log Σ_j exp(g[j] - C(i, j) / epsilon);   sums[j] += Σ_i exp(f[i] + g[j] - C(i, j) / epsilon)
  ///
  /// or, with an update that is not balanced, what that makes of f. One read of the costs, and one exponential an
  /// entry for each problem. What came of each is added to `swept`.
  void rows(std::span<const LogVectors<A>> problems, const LogUpdate& update, std::span<RowsSwept> swept);

  /// The same, but the rows of all problems get the weighted geometric mean of their sums, the logarithms of which are
  /// `log_sums`. Rows that are out of reach of one problem get nothing.
  ///
  /// \pre  there are no more problems than `together`
  void rows_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                      std::span<double> log_sums);

  /// maxima[k] ← max(maxima[k], max_i f[i] - C(i, columns[k]) / epsilon)
  void column_maxima(std::span<const std::size_t> columns, std::span<const A> f, std::span<double> maxima) const;
  /// sums[k] += Σ_i exp(f[i] - C(i, columns[k]) / epsilon - maxima[k])
  void column_sums(std::span<const std::size_t> columns, std::span<const A> f, std::span<const double> maxima,
                   std::span<double> sums) const;

  /// Calls f(i, exponentials of the row): the plan, row by row.
  template <class F>
  void for_each_row(std::span<const A> f, std::span<const A> g, F&& visit) {
    A sum{};
    for (Index i = 0; i < costs_.rows(); ++i) {
      exponentials(i, 1, f.data() + i, g.data(), &sum);
      visit(i, std::span<const A>(powers_.data(), static_cast<std::size_t>(costs_.columns())));
    }
  }

 private:
  /// Of rows from `first` on, into the first ones of the buffer.
  void exponentials(Index first, Index count, const A* f, const A* g, A* sums, Index into = 0);
  [[nodiscard]] simd::RowBlock<const T> costs_of(Index first, Index count) const;
  [[nodiscard]] double exponent(Index i, std::size_t j) const;

  using SumsOfRows = std::array<A, simd::most_rows_at_a_time>;

  /// Of a block of rows of one problem.
  RowsSwept block(const LogVectors<A>& problem, Index first, Index count, const LogUpdate& update);
  /// Takes row i again if its sum is not sound, with its true maximum; the exponentials are row `into` of the buffer.
  /// Whether the row reaches a column.
  [[nodiscard]] bool make_sound(const LogVectors<A>& problem, Index i, A& sum, Index into);
  /// Adds rows of the buffer to sums of columns.
  void add_rows(Index count, Index from, const SumsOfRows& weights, std::span<A> sums) const;

  matrix_view<const T> costs_;
  A factor_;
  Index rows_at_a_time_;
  std::vector<A> powers_;  // of that many rows, for each problem that is together with others
  simd::ExponentialKernels<T, A> exponential_ = simd::exponential_kernels<T, A>();
  simd::ScalingKernels<A, A> scaling_ = simd::scaling_kernels<A, A>();
};

}  // namespace plait::sinkhorn
