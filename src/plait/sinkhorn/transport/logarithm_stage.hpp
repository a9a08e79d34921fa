#pragma once

#include <span>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/transport/stage.hpp"

namespace plait::sinkhorn {

/// By logarithms: an iteration reads the costs once for all problems, and has one message for all; those that have come
/// to their end cost nothing more. The listener is told the largest error. Where sums left the range of numbers, which
/// they do only when costs are so many epsilons that rounding them is more than epsilon, the status is that of a
/// numerical limit, and the error infinite: there is no plan.
///
/// States that are kept have errors only: the potentials are the caller's.
///
/// \pre  there is one problem, if states are kept or gone on from
template <class A>
[[nodiscard]] std::vector<Outcome> stage_by_logarithms(mpi::Context& context, const Stage<A>& stage,
                                                       std::span<const StageProblem<A>> problems, const Limits& limits);

}  // namespace plait::sinkhorn
