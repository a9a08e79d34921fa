#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"

namespace plait::sinkhorn {

/// The columns of one of several problems.
template <class A>
struct LogColumns {
  std::span<const double> marginals;
  std::span<const A> f;     // of this rank's rows
  std::span<A> g;           // what is moved
  std::span<const A> sums;  // that they have with these potentials, of all ranks
};

/// Gives the columns of each problem their sums, in the logarithmic domain: those of which nothing is left in the sums,
/// with these potentials, are summed up again with their true maxima, by two messages for all problems. All ranks do
/// the same. Collective over `context`.
///
/// \return  of each problem a column that reaches no row, or has no finite sum; null where there is none
template <class A>
[[nodiscard]] std::vector<std::optional<std::size_t>> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                                   const LogUpdate& update,
                                                                   std::span<const LogColumns<A>> problems);

}  // namespace plait::sinkhorn
