#pragma once

#include <array>
#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/point_grid.hpp"

namespace plait::poisson {

/// What goes from a grid to the next coarser one and back where k jumps. Coarse points are every other point of the
/// axes that are halved. Between them u is interpolated as the equations have it without sources: on a line, where what
/// crosses it is taken to have the same values, then in a plane, then in space. So fluxes are continuous, not slopes.
///
/// R is Pᵀ and the coarse operator Pᵀ A P: symmetric and positive definite where A is.
///
/// Source: Dendy, "Black box multigrid", J. Comput. Phys. 48 (1982).
template <class T>
class OperatorTransfer {
 public:
  using Grid = PointGrid<T>;

  /// Sets the equations of the coarse grid, whose partition may be another one than the fine grid's. The grids outlive
  /// this. Collective.
  /// \param aligned  of the coarse points, where the fine ones are
  OperatorTransfer(mpi::Context& context, const Grid& fine, Grid& coarse, const layout::BoxPartition& aligned,
                   const layout::Coarsening& how);

  /// b ← R r; ghosts of r are filled. Collective.
  void restrict(const Values<T>& r, Values<T>& b);
  /// u ← u + P e, e with its ghosts. Collective; ghosts of u are not filled.
  void interpolate(const Values<T>& e, Values<T>& u);

 private:
  static constexpr std::size_t steps = Grid::steps;
  // Coarse step, steps from coarse points to fine ones at both ends, and the fine step between these.
  struct Way {
    Index coarse, from, to, fine;
  };
  // Coarse points of an axis that hang together alike.
  struct Run {
    Index begin, end;
    std::vector<Way> ways;
  };

  void find_places(std::size_t axis);
  /// The fine point at a coarse one.
  [[nodiscard]] Index place(std::size_t axis, Index coarse) const {
    return places_[axis][at(coarse - aligned_.own().low[axis] + 1)];
  }
  [[nodiscard]] bool is_between(std::size_t axis, Index coarse, Index step) const;
  [[nodiscard]] std::vector<Run> runs(std::size_t axis) const;
  void find_weights();
  [[nodiscard]] Values<T> weights(std::size_t step) const;
  [[nodiscard]] std::array<Values<T>, steps> product() const;

  const Grid& fine_;
  layout::Coarsening how_;
  Grid aligned_;
  std::array<std::vector<Index>, layout::axes> places_;
  std::array<Values<T>, steps> weights_;  // of coarse values at the fine points a step from them; empty: none
  // Where the coarse grid lies elsewhere.
  std::optional<halo::Exchange> down_, up_;
  Values<T> moved_;
};

}  // namespace plait::poisson
