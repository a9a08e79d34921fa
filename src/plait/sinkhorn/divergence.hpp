#pragma once

#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/transport.hpp"

namespace plait::sinkhorn {

/// The costs between the points of the rows and those of the columns, and among each of them. Ranks have rows of each
/// as for `scale`; of the first two the same ones.
template <class T>
struct CostsOfDivergence {
  matrix_view<const T> between;  // M x N
  matrix_view<const T> rows;     // M x M, symmetric
  matrix_view<const T> columns;  // N x N, symmetric
};

template <class A>
struct Divergence {
  Outcome outcome;  // of the first of the three transports that did not converge, or of the one between both
  double value = 0;
  // What the value changes by with the masses of this rank's rows, and of all columns: the potentials of the transport
  // between both less those of the one within. 0 where there is no mass.
  std::vector<A> row_gradient;
  std::vector<A> column_gradient;
  double between = 0;  // dual values of the three transports
  double rows = 0;
  double columns = 0;
};

/// The debiased Sinkhorn divergence of masses r and c,
///
///     S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2,
///
/// of which OT is the minimum that `transport` finds. Unlike that it is 0 for equal masses at equal points, and not
/// below 0 for costs such as squared distances; the entropies of the masses themselves cancel.
///
/// Collective over `context`.
///
/// \param options  of all three transports, which have to be balanced
/// \throws ArgumentError  on all ranks: as `transport`; a finite rho, costs whose shapes do not fit each other
///
/// Source: Feydy et al., "Interpolating between optimal transport and MMD using Sinkhorn divergences", 2019.
template <class T, class A>
[[nodiscard]] Divergence<A> divergence(mpi::Context& context, const CostsOfDivergence<T>& costs,
                                       const Marginals& marginals, const TransportOptions& options);

}  // namespace plait::sinkhorn
