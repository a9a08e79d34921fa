#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::poisson {

/// out = A in at all points of a small grid, which one rank has; spans of others are empty. Collective.
using SmallOperator = std::function<void(std::span<const double> in, std::span<double> out)>;

/// A by columns, on the rank that has the points. Collective.
[[nodiscard]] std::vector<double> matrix_of(Index points, bool is_here, const SmallOperator& a);

/// Solves the equations of the coarsest grid by elimination in their order, as their diagonals are no smaller than what
/// is beside them. A pivot that is nothing but rounding belongs to a constant, which is left out.
class Coarsest {
 public:
  /// Collective.
  /// \param is_free   constants change nothing: the last pivot is such a one
  /// \param roundoff  of the numbers that `a` is computed with
  Coarsest(Index points, bool is_here, bool is_free, double roundoff, const SmallOperator& a);

  /// values ← A⁻¹ values. Local.
  void solve(std::span<double> values) const;

 private:
  std::vector<double> factors_;  // by columns
};

}  // namespace plait::poisson
