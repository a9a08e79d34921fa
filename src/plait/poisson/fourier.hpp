#pragma once

#include <memory>
#include <span>

#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

/// Solves A u = b on a grid of equal stretches where k is one number, as sines and cosines along the axes are
/// eigenvectors of A:
///
///     u = F⁻¹ (F b / λ),   λ = k Σ_axes (2/h sin(angle / 2))²
///
/// F is a transform along each axis: sines and cosines of kinds I, II and IV by what is on its sides, Fourier's where
/// it is periodic. Lines are transformed by FFTW, each by itself on the rank that has all of it: ranks' parts are
/// pencils, and one exchange turns them from an axis to the next one. So u has the same bits on any number of ranks.
///
/// FFTW is loaded when it is asked for.
///
/// Source: Schumann, Sweet, "Fast Fourier transforms for direct solution of Poisson's equation with staggered boundary
/// conditions", J. Comput. Phys. 75 (1988).
class FourierSolver {
 public:
  /// The parts of ranks, which have whole lines along the last axis.
  [[nodiscard]] static layout::BoxPartition partition(const Axes& axes, int ranks);

  /// Whether there is an FFTW.
  [[nodiscard]] static bool is_available() noexcept;
  /// Whether lengths of transforms have no prime factors but those that FFTW has code for: others take several times as
  /// long.
  [[nodiscard]] static bool is_quick(const Axes& axes);

  /// Collective over the context, which outlives this.
  /// \throws ArgumentError  on all ranks: stretches of an axis differ, or it is longer than FFTW counts
  /// \throws Error          on all ranks: there is no FFTW
  FourierSolver(mpi::Context& context, const Axes& axes, double k);
  ~FourierSolver();

  /// values ← A⁻¹ values, of this rank's points. Of sums of constants, which A takes to 0, none is left. Collective.
  void solve(std::span<double> values);

 private:
  struct Stages;
  std::unique_ptr<Stages> stages_;
};

}  // namespace plait::poisson
