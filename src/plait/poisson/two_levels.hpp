#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/solver.hpp"

namespace plait::poisson {

/// How far a solution is from that of the differential equation.
struct Discretisation {
  double largest = 0;      ///< of all points
  double mean_square = 0;  ///< √(mean of squares)
};

/// Estimates the error of discretisation by a second grid of twice the spacing, on which the equation is solved, too:
/// where errors are of order 2, that of u is
///
///     ‖R u - u_2h‖ / 3
///
/// R averages over the cells of the second grid, as u are means over cells, and takes the values of nodes. f and k come
/// to the second grid in the same way. There is none where points are outside the domain or k is given by
/// face. Everything is collective over the context, which outlives this.
///
/// Source: Richardson, "The approximate arithmetical solution by finite differences…", 1911.
class TwoLevels {
 public:
  /// Solves on the second grid.
  /// \param options  those of the solver; multigrid is taken with or without conjugate gradients, as they say
  TwoLevels(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition, const Coefficient& k,
            std::span<const double> f, Options options);

  /// Whether there is a second grid and a solution on it.
  [[nodiscard]] bool is_known() const noexcept { return is_known_; }
  /// Empty where there is not.
  [[nodiscard]] std::optional<Discretisation> error(std::span<const double> u);

 private:
  [[nodiscard]] std::vector<double> on_coarse(std::span<const double> fine);

  mpi::Context& context_;
  Level level_;
  Coarser coarse_;
  layout::BoxPartition coarse_partition_;
  std::vector<double> coarse_u_;
  bool is_known_ = false;
};

}  // namespace plait::poisson
