#pragma once

#include <span>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

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
