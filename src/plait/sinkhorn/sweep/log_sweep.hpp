#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/exponential_kernels.hpp"
#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// What came of a sweep over rows.
struct RowsSwept {
  Index unreached = 0;  // how many rows that are to have a sum reach no column
  double distance = 0;  // what the sums of the others are off by, where the update is not the plain one
};

/// Sweeps over a rank's rows of costs in the logarithmic domain. Potentials are in units of epsilon here. Local.
template <class T, class A>
class LogSweep {
 public:
  LogSweep(matrix_view<const T> costs, double epsilon);

  /// Gives the rows their sums, and adds what they then have to those of the columns:
  ///
  ///     f[i] ← log r[i] - log Σ_j exp(g[j] - C(i, j) / epsilon);   sums[j] += Σ_i exp(f[i] + g[j] - C(i, j) / epsilon)
  ///
  /// in one read of the costs and with one exponential an entry.
  /// or, with an update that is not the plain one, what that makes of f.
  RowsSwept rows(std::span<const double> marginals, std::span<A> f, std::span<const A> g, std::span<A> sums,
                 const LogUpdate& update = {1, 1});

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

  matrix_view<const T> costs_;
  A factor_;
  Index rows_at_a_time_;
  std::vector<A> powers_;  // of that many rows
  simd::ExponentialKernels<T, A> exponential_ = simd::exponential_kernels<T, A>();
  simd::ScalingKernels<A, A> scaling_ = simd::scaling_kernels<A, A>();
};

}  // namespace plait::sinkhorn
