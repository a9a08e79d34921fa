#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// -∇·(k ∇u) = f on nodes of the unit square or cube, as many on each axis, u = 0 on all sides; all of it on one rank.
struct PoissonProblem {
  int dimensions = 2;
  Index extent = 0;
  std::vector<double> k;  ///< empty: 1
  std::vector<double> f;

  [[nodiscard]] Index points() const { return static_cast<Index>(f.size()); }
  [[nodiscard]] double spacing() const { return 1 / static_cast<double>(extent + 1); }
  /// Between neighbours: the harmonic mean of k, over the square of the spacing.
  [[nodiscard]] double conductance(Index p, Index q) const;
};

/// FFTW's sine transforms: exact where k = 1. Empty without FFTW.
/// \pre  the problem and u outlive it
[[nodiscard]] std::optional<Contender> sine_transform(const PoissonProblem& problem, std::span<double> u);

/// hypre's conjugate gradients with its multigrid for structured grids, from u = 0. Empty without hypre.
[[nodiscard]] std::optional<Contender> hypre(const PoissonProblem& problem, double tolerance, std::span<double> u);

}  // namespace plait::bench
