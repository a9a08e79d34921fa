#pragma once

#include <cstddef>
#include <vector>

#include "plait/poisson/coloured_grid.hpp"

namespace plait::poisson {

/// The equations of a small grid, all of whose points one rank has, solved by Gaussian elimination with pivots there.
///
/// Where A has no inverse, since constants change nothing, Σ width · u is added to each equation: its solution for a
/// right side that has one is that of sum 0.
template <class C>
class Coarsest {
 public:
  using Field = typename ColouredGrid<C>::Field;

  /// Collective. The grid outlives this.
  explicit Coarsest(ColouredGrid<C>& grid);

  /// Does nothing on ranks that have no points.
  void solve(const Field& b, Field& u) const;

 private:
  void find_matrix();
  void factorize();
  template <class F>
  void for_each_point(const F& f) const;

  ColouredGrid<C>& grid_;
  std::size_t n_ = 0;      // 0 where other ranks have the points
  std::vector<double> a_;  // then its factors
  std::vector<std::size_t> pivots_;
};

}  // namespace plait::poisson
