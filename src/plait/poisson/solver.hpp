#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/krylov/conjugate_gradient.hpp"
#include "plait/krylov/error_estimate.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/clusters.hpp"
#include "plait/poisson/elimination.hpp"
#include "plait/poisson/equation.hpp"
#include "plait/poisson/fourier.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/multigrid.hpp"
#include "plait/poisson/problem.hpp"
#include "plait/poisson/relaxation.hpp"

namespace plait::poisson {

enum class Method : unsigned char {
  jacobi,                         ///< an iteration is `Options::steps_per_exchange` steps
  chebyshev,                      ///< likewise, with what is left least for the bounds of the spectrum
  sor,                            ///< successive over-relaxation of red and black points
  conjugate_gradients,            ///< two reductions an iteration
  pipelined_conjugate_gradients,  ///< one, under way while the operator is applied
  fft,                            ///< by transforms, where k is the same everywhere: exact but for rounding
  lu,                             ///< by elimination of few points: likewise, to compare others with
  v_cycles,                       ///< multigrid; an iteration is `MultigridOptions::cycles`
  w_cycles,                       ///< likewise; kinds of cycles are those of `Cycle`
  f_cycles,                       ///< likewise: mostly the fastest method
  full_multigrid,                 ///< an iteration is one pass from the coarsest level to the finest
  multigrid_conjugate_gradients,  ///< with a symmetric V-cycle as preconditioner: for k that jumps
};
/// "jacobi", "chebyshev", "sor", "cg", "pipelined-cg", "fft", "lu", "v", "w", "f", "fmg", "mg-cg"
[[nodiscard]] std::string_view name(Method method);

struct Options {
  Method method = Method::v_cycles;
  iterate::Limits limits{.tolerance = 1e-8, .most_iterations = 100'000};  ///< of `Solver::errors`
  /// Of Jacobi and over-relaxation; empty: 1, or .9 where u is given nowhere on a part of the domain, and `best_omega`.
  std::optional<double> omega = {};
  /// Of Jacobi's and Chebyshev's iterations, whose ghost layers are as wide; 0: for which a step takes least time, by
  /// the model of the machine.
  Index steps_per_exchange = 1;
  krylov::Sums sums = krylov::Sums::fast;
  bool project = false;    ///< where u is given nowhere: subtract the mean of f, which has to be 0
  Boundary boundary = {};  ///< empty: 0 everywhere
  MultigridOptions multigrid = {};
  Outside outside = {};  ///< not with cycles alone
};

/// Solves  -∇·(k ∇u) = f  on a grid, by finite volumes: each rank has its box of a partition.
///
///     const auto partition = layout::BoxPartition::for_ranks(grid.box(), context.size());
///     Solver solver(context, grid, partition, k, f, u, {.method = Method::v_cycles});
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
/// Sources: those of `StepIteration`, `best_omega`, `FourierSolver`, `Multigrid`, `black_box` and of `krylov`.
class Solver {
 public:
  /// \param k, f, start  of this rank's points, the last axis contiguous; an empty k is 1, an empty start 0; k may be
  ///                     given by face, but for cycles
  /// \throws ArgumentError  on all ranks: a grid that there can't be, spans of other lengths, k that is not above 0,
  ///                        f or k that is not finite (each names the first index on the lowest rank), 0 < omega < 2
  ///                        not so, a method that this problem can't have, f of another mean than 0 where it has to be,
  ///                        or so large or small that its squares leave the range of numbers
  /// \throws OutOfMemory    on all ranks, where one has too little
  Solver(mpi::Context& context, const Grid& grid, const layout::BoxPartition& partition, const Coefficient& k,
         std::span<const double> f, std::span<const double> start, const Options& options)
      : Solver(context, axes_of(context, grid), partition, k, f, start, options) {}
  /// The same on axes of which stretches may differ, the first ones unused where there are fewer than three.
  Solver(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition, const Coefficient& k,
         std::span<const double> f, std::span<const double> start, const Options& options);

  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept;
  /// ‖b - A·u‖ / ‖b‖ after each iteration; where k spans more than a factor of 10, ‖D⁻¹ (b - A·u)‖ / ‖D⁻¹ b‖, D the
  /// diagonal of A, as else points of small k would count for nothing.
  [[nodiscard]] const std::vector<double>& errors() const noexcept;
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  on all ranks: the state is of another problem, or has as many iterations as are allowed
  void resume(const iterate::Checkpoint& checkpoint);

  /// u at this rank's points, in their order.
  void copy_solution(std::span<double> u);
  [[nodiscard]] std::string_view norm() const noexcept;  ///< its formula
  struct Check {
    double residual;           ///< ‖b - A·u‖ / ‖b‖
    double weighted_residual;  ///< the same in the norm of `errors`
    double right_side;         ///< √(mean of squares) of b, which is f with what is given on sides
  };
  /// What u is off by, as a part of its largest value, where k spans more than a factor of 10 and the method has no
  /// cycles of its own: it ends when this is within the tolerance, too. By how u changes, or by the residual over parts
  /// of much larger k than around them (`Clusters`; of `multigrid_conjugate_gradients` at points unless k spans more
  /// than 1e8), whichever tells of more. Infinite where nothing is known.
  [[nodiscard]] std::optional<double> estimated_error() const;
  /// Computed again from u. Collective.
  [[nodiscard]] Check check();
  [[nodiscard]] double residual() { return check().residual; }
  /// The mean of f, with what flows in, that b is without, the largest one of the parts; empty where u is given on all.
  [[nodiscard]] const std::optional<double>& subtracted() const noexcept { return equation_.subtracted(); }
  /// By the u of now; the same bits on any number of ranks. Collective.
  [[nodiscard]] Balance balance();
  /// Connected parts of the domain.
  [[nodiscard]] Index parts() const noexcept { return equation_.parts(); }
  /// Of this, with all it was made of.
  [[nodiscard]] double omega() const noexcept { return omega_; }
  [[nodiscard]] Index steps_per_exchange() const noexcept { return options_.steps_per_exchange; }
  /// Which part of the reductions of pipelined conjugate gradients was over by the time that A was applied, in the mean
  /// of ranks; empty for others. Collective.
  [[nodiscard]] std::optional<double> hidden_reductions() const;
  /// Empty for methods without.
  [[nodiscard]] const std::unique_ptr<Multigrid>& multigrid() const noexcept { return multigrid_; }
  /// The other preconditioner of conjugate gradients, where k jumps.
  [[nodiscard]] const std::unique_ptr<Preconditioner>& black_box() const noexcept { return black_box_; }

 private:
  void make_method();
  void make_conjugate_gradients();
  /// With the solution of conjugate gradients.
  [[nodiscard]] Values& current_u();
  /// u ← u + A⁻¹ r
  void correct();
  [[nodiscard]] double error();
  [[nodiscard]] bool has_relaxation() const noexcept { return steps_ || options_.method == Method::sor; }
  /// Whether it goes on although the residual is small enough, as u is not.
  [[nodiscard]] bool goes_on_for_u();
  /// How far u is off at some places, by r of this rank's points.
  [[nodiscard]] double shift(std::span<const double> r);
  /// That of relaxation.
  void check_u();
  /// Whether the residual stays, and is what rounding leaves of its terms. Asked seldom.
  [[nodiscard]] bool is_at_rounding();
  void iterate_once();

  mpi::Context& context_;
  Options options_;
  layout::BoxPartition partition_;  // of what is given; methods may have another one
  double omega_ = 1;
  Equation equation_;
  Values u_, r_;
  iterate::Course course_;
  krylov::Dots dots_;
  bool has_begun_ = false, is_at_zero_;  // u
  double right_side_squared_ = 0;
  std::optional<krylov::ErrorEstimate<double>> estimate_;  // of relaxation
  std::optional<Clusters> clusters_;                       // once they are asked
  std::optional<StepIteration> steps_;
  std::optional<FourierSolver> fourier_;
  std::optional<Elimination> elimination_;
  std::unique_ptr<Multigrid> multigrid_;
  std::unique_ptr<Preconditioner> black_box_;
  // Of conjugate gradients.
  std::vector<double> right_side_, solution_, weights_;
  std::unique_ptr<krylov::ConjugateGradientBase<double>> gradients_;
};

}  // namespace plait::poisson
