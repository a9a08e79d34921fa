#pragma once

#include <optional>

#include "plait/base/index.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/krylov/lanczos.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/equation.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

/// The extreme eigenvalues of D⁻¹ A, D the diagonal of A, but for that of constants where these change nothing; the
/// lowest one is above that of A by little. The same bits on any number of ranks. Collective.
[[nodiscard]] krylov::Extremes scaled_spectrum(mpi::Context& context, Equation& equation);

/// Of over-relaxation of red and black points:
///
///     ω = 2 / (1 + √(1 - ρ²)),   ρ = 1 - λ  for the least eigenvalue λ of D⁻¹ A
///
/// which on equal nodes with k = 1 between sides of given values is known, Σ cos(π/(n+1)) / h² / Σ 1/h²; elsewhere it
/// is searched for. 1 round an axis of odd extent, where points of one colour meet, so that more need not converge.
/// Collective.
///
/// Source: Young, "Iterative Solution of Large Linear Systems", 1971.
[[nodiscard]] double best_omega(mpi::Context& context, Equation& equation);

/// Iterations along the residual, scaled by the diagonal D of A, and along the step before:
///
///     step ← α_i D⁻¹ (b - A u) + β_i step;   u ← u + step
///
/// Jacobi's has α = ω and β = 0; Chebyshev's makes the largest factor least that is left of errors whose eigenvalues of
/// D⁻¹ A lie between bounds. Several steps take one exchange, of ghost layers as wide, in which a rank computes what
/// its neighbours do: a layer less from step to step. All values have the bits of one step an exchange.
///
/// Sources: Demmel, Hoemmen, Mohiyuddin, Yelick, "Avoiding communication in sparse matrix computations", 2008;
/// Gutknecht, Röllin, "The Chebyshev iteration revisited", Parallel Computing 28 (2002).
class StepIteration {
 public:
  struct Bounds {
    double low, high;
  };

  /// Collective. The equation outlives this.
  /// \param bounds  of Chebyshev's; empty: Jacobi's, by omega
  /// \pre  the level's ghost layers are as wide as there are steps; 0 < low <= high
  StepIteration(mpi::Context& context, Equation& equation, Index steps, double omega,
                const std::optional<Bounds>& bounds = {});

  /// r ← b - A u, with what it takes of communication for all steps to come. Collective.
  void find_residual(Values& u, Values& r);
  /// As many steps as an exchange is for. Local.
  /// \pre  r is that of u, as above
  void advance(Values& u, Values& r);

  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is another method's
  void resume(const iterate::Checkpoint& checkpoint);

 private:
  void take_step(Values& u, const Values& r, Index margin);

  Equation& equation_;
  Index steps_;
  double omega_;
  std::optional<Bounds> bounds_;
  Values step_;     // Chebyshev's
  double rho_ = 0;  // likewise; 0 before the first step
  halo::Exchange exchange_;
};

}  // namespace plait::poisson
