#pragma once

#include <optional>
#include <span>
#include <vector>

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

/// The same for several problems, with one matrix for all, exp(f - C / epsilon), beside which potentials of the columns
/// are factors to begin with: it is read once an iteration, see `scale_batch`. Null for problems for which that does
/// not work out.
///
/// \pre  no state is kept or gone on from
template <class A>
[[nodiscard]] std::vector<std::optional<Outcome>> stage_by_common_factors(mpi::Context& context, const Stage<A>& stage,
                                                                          std::span<const StageProblem<A>> problems,
                                                                          const Limits& limits);

}  // namespace plait::sinkhorn
