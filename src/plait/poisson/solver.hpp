#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/krylov/conjugate_gradient.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/black_box.hpp"
#include "plait/poisson/fourier.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/multigrid.hpp"
#include "plait/poisson/parts.hpp"

namespace plait::poisson {

/// Of one to three dimensions, slowest first. Cells fill the domain; the first node is one spacing from the side below.
struct Grid {
  std::vector<Index> extents;
  std::vector<double> spacing;  ///< one for each dimension
  Points points = Points::cells;
  std::vector<Axis::Sides> sides{};  ///< likewise; none: u is given on all

  [[nodiscard]] layout::Box box() const { return layout::Box::of(extents); }
};

/// What is given on a side, below (0) or above (1) on an axis of the grid, at a place: u, or k ∂u/∂n out of the domain.
using Boundary = std::function<double(int axis, int side, std::span<const double> place)>;

enum class Method : unsigned char {
  jacobi,
  sor,                            ///< successive over-relaxation of red and black points
  conjugate_gradients,            ///< two reductions an iteration
  pipelined_conjugate_gradients,  ///< one, under way while the operator is applied
  fft,                            ///< by transforms, where k is the same everywhere: exact but for rounding
  v_cycles,                       ///< multigrid; an iteration is `MultigridOptions::cycles`
  w_cycles,                       ///< likewise; kinds of cycles are those of `Cycle`
  f_cycles,                       ///< likewise: mostly the fastest method
  full_multigrid,                 ///< an iteration is one pass from the coarsest level to the finest
  multigrid_conjugate_gradients,  ///< with a symmetric V-cycle as preconditioner: for k that jumps
};
/// "jacobi", "sor", "cg", "pipelined-cg", "fft", "v", "w", "f", "fmg", "mg-cg"
[[nodiscard]] std::string_view name(Method method);

/// The axes of a grid. Collective over the context.
/// \throws ArgumentError  on all ranks: a grid that there can't be
[[nodiscard]] Axes axes_of(mpi::Context& context, const Grid& grid);

/// The largest ratio of k at two neighbouring points, but for those where it is 0; 1 where k is empty. The same on all
/// ranks. Collective.
template <class T>
[[nodiscard]] double largest_jump(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition,
                                  std::span<const T> k);

/// What flows in through the sides, and what is made within: together 0.
struct Balance {
  double source = 0;                                         ///< ∫ f
  std::array<std::array<double, 2>, layout::axes> inflow{};  ///< ∫ k ∂u/∂n over the side of an axis below, above
  double from_outside = 0;                                   ///< likewise, from points outside the domain
};

/// Points of the grid that are no part of the domain.
struct Outside {
  std::vector<bool> points = {};  ///< by this rank's points, as k is; empty: none
  /// What holds next to them: nothing flows, or u is what `start` has at these points.
  Side side = Side::flux;
};

struct Options {
  Method method = Method::v_cycles;
  iterate::Limits limits{.tolerance = 1e-8, .most_iterations = 100'000};  ///< of ‖b - A·u‖ / ‖b‖
  std::optional<double> omega = {};  ///< of Jacobi and over-relaxation; empty: 1, and the best for k = 1
  krylov::Sums sums = krylov::Sums::fast;
  bool project = false;    ///< where u is given nowhere: subtract the mean of f, which has to be 0
  Boundary boundary = {};  ///< empty: 0 everywhere
  MultigridOptions multigrid = {};
  Outside outside = {};  ///< not with cycles alone
};

/// Solves  -∇·(k ∇u) = f  on a grid, by finite volumes: each rank has its box of a partition.
///
///     const auto partition = layout::BoxPartition::for_ranks(grid.box(), context.size());
///     Solver<double> solver(context, grid, partition, k, f, u, {.method = Method::v_cycles});
///     iterate::run(solver);
///     solver.copy_solution(u);
///
/// Where u is given on no side, constants change nothing: f, with what flows through the sides, then has to have mean
/// 0, and of all solutions that of mean 0 is found. The same holds for each connected part of a domain with points
/// outside. At these k and f count for nothing (k does where u is given there), and the solution is what `start` has.
///
/// Everything is collective over the context, which outlives this. Iterates of all methods but those of conjugate
/// gradients have the same bits on any number of ranks, and these, too, with reproducible sums.
///
/// Sources: Young, "Iterative Solution of Large Linear Systems", 1971, for Jacobi's method and over-relaxation; those
/// of `Multigrid` and of `krylov` for the others.
template <class T>
class Solver {
 public:
  /// \param k, f, start  of this rank's points, the last axis contiguous; an empty k is 1, an empty start 0
  /// \throws ArgumentError  on all ranks: a grid that there can't be, spans of other lengths, k that is not above 0,
  ///                        f or k that is not finite (each names the first index on the lowest rank), 0 < omega < 2
  ///                        not so, f of another mean than 0 where it has to be, or so large or small that its squares
  ///                        leave the range of numbers
  /// \throws OutOfMemory    on all ranks, where one has too little
  Solver(mpi::Context& context, const Grid& grid, const layout::BoxPartition& partition, std::span<const T> k,
         std::span<const T> f, std::span<const T> start, const Options& options)
      : Solver(context, axes_of(context, grid), partition, k, f, start, options) {}
  /// The same on axes of which stretches may differ, the first ones unused where there are fewer than three.
  Solver(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition, std::span<const T> k,
         std::span<const T> f, std::span<const T> start, const Options& options);

  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept;
  /// ‖b - A·u‖ / ‖b‖ after each iteration.
  [[nodiscard]] const std::vector<double>& errors() const noexcept;
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  on all ranks: the state is of another problem, or has as many iterations as are allowed
  void resume(const iterate::Checkpoint& checkpoint);

  /// u at this rank's points, in their order.
  void copy_solution(std::span<T> u);
  /// ‖b - A·u‖ / ‖b‖, computed again from u. Collective.
  [[nodiscard]] double residual();
  /// √(mean of squares) of b, which is f with what is given on sides. Collective.
  [[nodiscard]] double right_side();
  /// The mean of f, with what flows in, that b is without, the largest one of the parts; empty where u is given on all.
  [[nodiscard]] const std::optional<double>& subtracted() const noexcept { return subtracted_; }
  /// By the u of now; the same bits on any number of ranks. Collective.
  [[nodiscard]] Balance balance();
  /// Connected parts of the domain.
  [[nodiscard]] Index parts() const noexcept { return parts_->count(); }
  /// Of this, with all it was made of.
  [[nodiscard]] double omega() const noexcept { return omega_; }
  /// Empty for methods without.
  [[nodiscard]] const std::optional<Multigrid<T>>& multigrid() const noexcept { return multigrid_; }
  /// The other preconditioner of conjugate gradients, where k jumps.
  [[nodiscard]] const std::optional<BlackBox<T>>& black_box() const noexcept { return black_box_; }

 private:
  void set_right_side(std::span<const T> f);
  void expect_range() const;
  template <class F>
  void for_each_face_of_sides(const F& f);
  void copy_from_conjugate_gradients();
  [[nodiscard]] double weight(Index i, Index j, Index x) const;
  double remove_means(Values<T>& values, bool is_expected);
  [[nodiscard]] std::array<double, 2> squares();
  void make_conjugate_gradients();
  void make_fourier_solver(std::span<const T> k);
  void correct();
  [[nodiscard]] double error();
  void iterate_once();
  [[nodiscard]] bool has_cycles() const noexcept {
    return multigrid_ && options_.method != Method::multigrid_conjugate_gradients;
  }
  [[nodiscard]] std::vector<T> moved(std::span<const T> values, const layout::BoxPartition& from,
                                     const layout::BoxPartition& to);

  mpi::Context& context_;
  Options options_;
  layout::BoxPartition partition_;  // of what is given; methods may have another one
  double omega_ = 1;
  Level<T> level_;
  std::optional<Parts> parts_;
  Values<T> u_, b_, r_;
  Values<T> kept_;  // u at the points outside, where there are any
  std::optional<Multigrid<T>> multigrid_;
  std::optional<FourierSolver> fourier_;
  std::optional<BlackBox<T>> black_box_;
  iterate::Course course_;
  krylov::Dots dots_;
  bool has_begun_ = false;
  double right_side_squared_ = 0;
  std::optional<double> subtracted_;
  // Of conjugate gradients.
  std::vector<T> right_side_, solution_;
  std::unique_ptr<krylov::ConjugateGradient<T>> conjugate_gradient_;
  std::unique_ptr<krylov::PipelinedConjugateGradient<T>> pipelined_;
};

}  // namespace plait::poisson
