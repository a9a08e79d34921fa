#pragma once

#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"
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

/// Multigrid as a preconditioner of conjugate gradients where k jumps or the grid has holes: an approximation of A⁻¹
/// that is symmetric and positive definite for any k, by W-cycles on the first coarse grids, V-cycles below, and a
/// sweep of Gauss-Seidel before and after. Numbers are of T, grids and bits as `Multigrid` has them. Points that are
/// outside take part with a k that is small, so that coarse points there serve those inside.
template <class T>
class BlackBox {
 public:
  /// \param finest  its coefficient set; outlives this
  /// \param least_points_per_rank  coarse levels go to fewer ranks, so that each has as many points
  BlackBox(mpi::Context& context, Level<T>& finest, Index least_points_per_rank);

  /// u ← M b; ghosts of u are not filled. Collective.
  void apply(const Values<T>& b, Values<T>& u);

  [[nodiscard]] int levels() const noexcept { return static_cast<int>(stages_.size()); }
  [[nodiscard]] int parts(int level) const { return stages_[at(level)].grid.partition().number_of_parts(); }

 private:
  using Grid = PointGrid<T>;
  struct Stage {
    template <class... Arguments>
    explicit Stage(Arguments&&... arguments) : grid(std::forward<Arguments>(arguments)...) {}
    Grid grid;
    Values<T> u, b, r;
  };

  void set_finest();
  [[nodiscard]] double conductance(std::size_t axis, const layout::Point& point) const;
  bool add_coarser();
  void factorize();
  void cycle(std::size_t number, bool is_zero);
  void solve(const Values<T>& b, Values<T>& u) const;
  [[nodiscard]] double volume(const layout::Point& point) const;

  mpi::Context& context_;
  Level<T>& finest_;
  Index least_points_per_rank_;
  std::array<double, layout::axes> spacing_{};               // of the last stage
  std::array<std::vector<double>, layout::axes> stretches_;  // of points, in usual ones
  double scale_ = 1, little_ = 0;
  std::deque<Stage> stages_;
  std::deque<OperatorTransfer<T>> transfers_;
  // L D Lᵀ of the last stage, on the rank that has it.
  std::vector<double> factors_;
};

}  // namespace plait::poisson
