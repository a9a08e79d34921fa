#pragma once

#include <span>
#include <vector>

#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

/// Solves A u = b on a grid of few points by LU factors of A as a dense matrix, with LAPACK: what other methods can be
/// compared with. One rank has all points. Where constants change nothing, Σ u is added to each equation.
///
/// LAPACK is loaded when it is asked for.
class Elimination {
 public:
  static constexpr Index most_points = 8192;  // half a GiB

  [[nodiscard]] static layout::BoxPartition partition(const Axes& axes, int ranks);

  /// \param level  on the partition above
  /// \throws ArgumentError  on all ranks: there are more points
  /// \throws Error          on all ranks: there is no LAPACK
  template <class T>
  Elimination(mpi::Context& context, Level<T>& level);

  /// values ← A⁻¹ values, of this rank's points. Local.
  void solve(std::span<double> values) const;

 private:
  std::vector<double> factors_;  // by columns
  std::vector<int> pivots_;
};

}  // namespace plait::poisson
