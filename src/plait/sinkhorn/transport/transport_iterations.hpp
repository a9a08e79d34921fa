#pragma once

#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/marginals/first_failure.hpp"
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

/// The same of several problems, by as many messages as of one; errors name the problem.
[[nodiscard]] std::vector<CheckedMarginals> checked_masses_of_each(mpi::Context& context, Index rows, Index columns,
                                                                   std::span<const Marginals> problems, const Rho& rho);

/// The masses that plans must have: 0 for those that may be missed.
[[nodiscard]] std::vector<CheckedMarginals> masses_that_are_had(mpi::Context& context,
                                                                std::span<const CheckedMarginals> masses,
                                                                const Rho& rho);

/// With what epsilon to begin where nobody said: in steps, if costs are many epsilons.
///
/// \param highest  no cost but infinite ones is larger, or less than minus that
[[nodiscard]] double chosen_first_epsilon(double highest, double epsilon);

[[nodiscard]] double next_epsilon(double epsilon, double last);

/// Of a stage before the last one little is wanted.
[[nodiscard]] Limits limits_of_stage(const Limits& limits, bool is_last);

/// Why there is no plan where costs, in units of epsilon, are no numbers of type A.
template <class A>
[[nodiscard]] std::optional<Outcome> beyond_range(double highest, double epsilon);

/// \throws ArgumentError  on all ranks: numbers of problems that differ from rank to rank. Collective over `context`
void expect_as_many(mpi::Context& context, std::size_t problems);

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

/// Checks points and options. Collective over `context`.
///
/// \return  no cost between two of the points is larger
/// \throws ArgumentError  on all ranks: as `transport` of points, but for what their masses have to be
template <class A>
[[nodiscard]] double checked_highest_cost(mpi::Context& context, const PointClouds<A>& clouds,
                                          const TransportOptions& options);

/// Fails for problems whose masses can be at no points. Collective over `context`.
template <class A>
void expect_points_for_each(mpi::Context& context, const PointClouds<A>& clouds,
                            std::span<const CheckedMarginals> masses, const Rho& rho, FirstFailure& failure);

}  // namespace plait::sinkhorn
