#pragma once

#include <span>
#include <type_traits>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// Beyond this, exponentials of costs in units of epsilon span too many orders of magnitude to be factors of anything.
template <class A>
inline constexpr double widest_factors = std::is_same_v<A, double> ? 500 : 50;

/// \throws ArgumentError  an epsilon that is not positive and finite, or a first one below it; limits below 0
void expect_suitable(const TransportOptions& options);

/// The marginals, or where sums may be missed the masses: see `checked_marginals` and `checked_masses`.
[[nodiscard]] CheckedMarginals checked_masses_of(mpi::Context& context, Index rows, Index columns,
                                                 const Marginals& marginals, const Rho& rho);

/// `transport` of costs in any form, which were checked. Collective over `context`.
///
/// \param highest  no cost but infinite ones is larger, or less than minus that
/// \throws ArgumentError  on all ranks: a start of another length or with potentials that are not finite
template <class A>
[[nodiscard]] Transport<A> transport_of(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& masses,
                                        double highest, const TransportOptions& options, std::span<const A> start);

/// What belongs to the plan of potentials in units of epsilon, in one more pass: its cost, its mass, divergences and
/// values. Collective over `context`.
///
/// \param masses  that were given
template <class A>
void evaluate_plan(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& masses, double epsilon,
                   const Rho& given_rho, Transport<A>& result);

}  // namespace plait::sinkhorn
