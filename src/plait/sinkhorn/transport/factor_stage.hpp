#pragma once

#include <optional>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/transport/stage.hpp"

namespace plait::sinkhorn {

/// By factors: of the matrix exp(f + g - C / epsilon), with the f that makes the largest entry of each row 1. Null
/// where that does not work out: a column of it is 0, or numbers leave their range on the way, in which case the
/// potentials of the columns are as good as that way was.
template <class A>
[[nodiscard]] std::optional<Outcome> stage_by_factors(mpi::Context& context, const Stage<A>& stage,
                                                      const StageProblem<A>& problem, const Limits& limits);

}  // namespace plait::sinkhorn
