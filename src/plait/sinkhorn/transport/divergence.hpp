#pragma once

#include <array>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// The costs between the points of the rows and those of the columns, and among each of them. Ranks have rows of each
/// as for `scale`; of the first two the same ones.
template <class T>
struct CostsOfDivergence {
  matrix_view<const T> between;  // M x N
  matrix_view<const T> rows;     // M x M, symmetric
  matrix_view<const T> columns;  // N x N, symmetric
};

/// A divergence in numbers.
struct DivergenceValues {
  double value = 0;
  double between = 0;  // OT of the three transports, as the dual values tell
  double rows = 0;
  double columns = 0;
  double gap = 0;       // of the value: what the plans make of it, less what the potentials do
  double rounding = 0;  // what may be left of the value where it is 0, as numbers of A are rounded
  double mass = 0;      // that the plan between both moves
};

template <class A>
struct Divergence : DivergenceValues {
  Outcome outcome;  // of the first of the three transports that did not converge, or of the one between both
  // What the value changes by with the masses of this rank's rows, and of all columns. 0 where there is no mass.
  std::vector<A> row_gradient;
  std::vector<A> column_gradient;
  // Of all three: between both, of rows, of columns. Where masses and costs between both are those of the rows, the
  // transport between both is that of the rows, and has none of its own.
  std::array<std::vector<TransportStage>, 3> stages;
};

/// The debiased Sinkhorn divergence of masses r and c,
///
///     S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2,
///     OT(r, c) = min { Σ C P + epsilon Σ P (log(P / r c') - 1) : P >= 0 with the sums r and c },
///
/// which is the minimum that `transport` finds, but with an entropy beside that of the masses themselves. Unlike that
/// it is 0 for equal masses at equal points, and not below 0 for costs such as squared distances.
///
/// **Unbalanced**: where rho is finite, the sums of P may miss the masses, which adds  rho KL(sums | masses)  of both;
/// masses need not have one total. Then S(r, c) of Séjourné et al. has a term epsilon (Σ r - Σ c)² / 2, which is
/// what their KL(P | r c') has beside the sum above, so that it is the same. The gradients are the potentials of the
/// transport between both less those of the one within, and (rho + epsilon) (exp(-h / rho) - exp(-f / rho)) of these
/// potentials where rho is finite.
///
/// Collective over `context`.
///
/// \param options  of all three transports; checkpoints are not looked at
/// \throws ArgumentError  on all ranks: as `transport`; a rho of the rows that is not that of the columns, or of which
///                        epsilon is such a multiple that masses^(1 + epsilon / rho) leave the range of numbers; costs
///                        whose shapes do not fit each other, or that are not symmetric
///
/// Sources: Feydy et al., "Interpolating between optimal transport and MMD using Sinkhorn divergences", 2019; Séjourné
/// et al., "Sinkhorn divergences for unbalanced optimal transport", 2019.
template <class T, class A>
[[nodiscard]] Divergence<A> divergence(mpi::Context& context, const CostsOfDivergence<T>& costs,
                                       const Marginals& marginals, const TransportOptions& options);

/// The same of masses at points, where no costs are stored; each rank has all points of both clouds, unless these are
/// the nodes of a grid.
template <class A>
[[nodiscard]] Divergence<A> divergence(mpi::Context& context, const PointClouds<A>& clouds, const Marginals& marginals,
                                       const TransportOptions& options);

}  // namespace plait::sinkhorn
