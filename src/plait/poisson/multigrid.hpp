#pragma once

#include <memory>

#include "plait/base/index.hpp"
#include "plait/krylov/dots.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/equation.hpp"

namespace plait::poisson {

enum class Cycle : unsigned char {
  v,
  w,          ///< each coarser level twice
  f,          ///< each but the first coarser level twice, by an F- and then a V-cycle
  full,       ///< the coarsest level first, each the start of the next finer one, improved by a V-cycle
  symmetric,  ///< a V-cycle that sweeps back in the opposite order, as conjugate gradients want it
};

enum class Smoother : unsigned char {
  red_black,  ///< Gauss-Seidel: errors fall to a tenth by a cycle
  jacobi,     ///< weighted by .8: they fall to a third, and passes are not fused
};

struct MultigridOptions {
  Smoother smoother = Smoother::red_black;  ///< but of black-box cycles, which keep theirs
  int sweeps_before = 1;                    ///< on each level; at least one
  int sweeps_after = 1;
  /// Of an iteration, which ends with a residual in doubles: that takes nearly as long as a cycle.
  int cycles = 2;
  /// Coarse levels go to fewer ranks, so that each has as many points.
  Index least_points_per_rank = 1024;
  /// Conjugate gradients take `black_box` where k differs by more than this factor at neighbours, cycles below.
  double most_jump = 10;
};

/// An approximation of A⁻¹ by coarser and coarser grids, for conjugate gradients.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// u ← M b; ghosts of u are not filled. Collective.
  virtual void apply(const Values& b, Values& u) = 0;
};

/// Multigrid for corrections of u on a `Level`, by coarser ones, down to one that is solved by elimination on one rank:
///
///     r = b - A u;  cycle(0);  u += e_0,  where
///     cycle(l):  sweep from e = 0; b_coarse = R (r - A e); cycle(l + 1); e += P e_coarse; sweep
///
/// R averages and P interpolates linearly on each axis (`Axis`); coarse operators are those of the equation on the
/// coarse grids, with k averaged. An axis is halved when its spacing is near the least one of all, so that grids come
/// to have the same spacing on all axes. Any extents will do. Corrections are floats, scaled by powers of two, unless k
/// spans more than floats do; residuals and u are doubles.
///
/// A cycle is two passes over each level, which relax red points, a plane behind them black ones, and a plane behind
/// these take residuals to the coarse level, or bring corrections from it a plane ahead (`ColouredGrid`).
///
/// As a preconditioner it is one symmetric cycle. Each point's values have the same bits on any number of ranks.
/// Everything is collective over the context.
///
/// Source: Trottenberg, Oosterlee, Schüller: "Multigrid", 2001.
class Multigrid : public Preconditioner {
 public:
  /// The partition of a level whose ranks' parts are those of the finest grid, which never cuts the last axis, and so
  /// leaves a line on one rank: `partition` itself where it can be.
  [[nodiscard]] static layout::BoxPartition partition(const Axes& axes, const layout::BoxPartition& partition);

  /// \param equation  outlives this, on a partition as above
  /// \throws ArgumentError  options below what they have to be
  [[nodiscard]] static std::unique_ptr<Multigrid> make(mpi::Context& context, Equation& equation, Cycle kind,
                                                       const MultigridOptions& options);

  /// Keeps the residual of u, and adds its square, as the level weighs it, to `dots[0]`. Fills the ghosts of u.
  virtual void begin(Values& u, const Values& b, krylov::Dots& dots) = 0;
  /// The same for u = 0, whose residual is b.
  /// \param largest  of b, on all ranks
  virtual void begin_at_zero(const Values& b, double largest, krylov::Dots& dots) = 0;
  /// Improves u by as many cycles as an iteration has, or one of full multigrid, and keeps the residual likewise.
  /// \pre  `begin` or `begin_at_zero` came before, or this, with the same u, whose ghosts it filled
  virtual void improve(Values& u, const Values& b, krylov::Dots& dots) = 0;
};

/// Multigrid as a preconditioner of conjugate gradients where k jumps or the grid has holes: an approximation of A⁻¹
/// that is symmetric and positive definite for any k, by W-cycles on the first coarse grids, V-cycles below, and a
/// sweep of Gauss-Seidel before and after. It computes in floats where k spans no more than five decades, else in
/// doubles; grids and bits are as `Multigrid` has them. Points that are outside take part with a k that is small, so
/// that coarse points there serve those inside. Collective over the context.
///
/// \param finest  its coefficient set; outlives this
/// \param least_points_per_rank  coarse levels go to fewer ranks, so that each has as many points
[[nodiscard]] std::unique_ptr<Preconditioner> black_box(mpi::Context& context, Level& finest,
                                                        Index least_points_per_rank);

}  // namespace plait::poisson
