#pragma once

#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// The potentials of a transport from masses to themselves, where those of rows and columns are one: fixed points of
///
///     f ← (f + T f) / 2,
///
/// T f what gives the rows their sums. Near the end an iteration multiplies the error by a half at most for costs such
/// as squared distances, however small epsilon is, where rows and columns in turns may take ten thousands of them.
/// For all columns, in the costs' unit, as a start of `transport`, which checks everything; empty where it does not
/// come to an end. Stages, as of `transport`, are added to `stages`.
///
/// Collective over `context`.
///
/// \param masses   of this rank's rows, and of all columns, which are the same
/// \param options  the first epsilon: what to begin with, 0 for the last one
///
/// Source: Feydy et al., "Interpolating between optimal transport and MMD using Sinkhorn divergences", 2019.
template <class A>
[[nodiscard]] std::vector<A> symmetric_potentials(mpi::Context& context, CostOperand<A>& costs, const Marginals& masses,
                                                  const TransportOptions& options, std::vector<TransportStage>& stages);

}  // namespace plait::sinkhorn
