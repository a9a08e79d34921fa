#pragma once

#include <optional>
#include <span>

#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// Costs less the least of their row, then less what is left of the least of their column: the same plans, where
/// potentials of that side take up any number. Only sides whose sums must not be missed have such.
template <class T>
struct ReducedCosts {
  Array<T> memory;
  matrix_view<const T> costs;  // in the memory
  double highest = 0;          // of these
  CostOffsets offsets;
};

/// The reduced costs, where costs are beyond the range of numbers as they are (see `beyond_range`), or round to 1e-3
/// epsilons and more, and reduced ones are not, or are much smaller. Collective.
/// \param highest  no cost but infinite ones is larger, or less than minus that
/// \throws OutOfMemory  on all ranks, where one has no room for them
template <class T, class A>
[[nodiscard]] std::optional<ReducedCosts<T>> reduced_costs(mpi::Context& context, matrix_view<const T> costs,
                                                           double highest, const TransportOptions& options);

/// Makes values of transports between reduced costs those of transports between the costs that were given. Collective.
template <class T, class A>
void undo_reduction(mpi::Context& context, const ReducedCosts<T>& reduced, std::span<const CheckedMarginals> masses,
                    std::span<Transport<A>> found);

}  // namespace plait::sinkhorn
