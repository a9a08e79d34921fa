#pragma once

#include <span>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// `transport` of costs in any form, which were checked, for each of the masses. An iteration reads, or makes, the
/// costs once for all of them, or their exponentials where these are factors, and there are as many messages as for one
/// of them. Collective over `context`.
///
/// \param highest  no cost but infinite ones is larger, or less than minus that
/// \pre  there are masses of one problem, if a state is kept or gone on from
/// \throws ArgumentError  on all ranks: a start of another length or with potentials that are not finite
template <class A>
[[nodiscard]] std::vector<Transport<A>> transports_of(mpi::Context& context, CostOperand<A>& costs,
                                                      std::span<const CheckedMarginals> masses, double highest,
                                                      const TransportOptions& options, std::span<const A> start);

/// The plan of one of several problems with the same costs.
template <class A>
struct PlanToEvaluate {
  const CheckedMarginals* masses = nullptr;  // that were given
  Transport<A>* result = nullptr;            // with potentials in units of epsilon
};

/// What belongs to these plans, in one more pass for each: their costs, masses, divergences and values. As many
/// messages as for one. Collective over `context`.
template <class A>
void evaluate_plans(mpi::Context& context, CostOperand<A>& costs, std::span<const PlanToEvaluate<A>> plans,
                    double epsilon, const Rho& given_rho);

}  // namespace plait::sinkhorn
