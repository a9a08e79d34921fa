#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"

namespace plait::sinkhorn {

/// Gives the columns their sums, in the logarithmic domain: those of which nothing is left in the sums, with these
/// potentials, are summed up again with their true maxima. All ranks do the same. Collective over `context`.
///
/// \return  a column that reaches no row, or has no finite sum; null where there is none
template <class A>
[[nodiscard]] std::optional<std::size_t> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                      std::span<const double> marginals, const LogUpdate& update,
                                                      std::span<const A> f, std::vector<A>& g, std::span<const A> sums);

}  // namespace plait::sinkhorn
