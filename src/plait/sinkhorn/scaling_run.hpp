#pragma once

#include <functional>
#include <span>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/feasibility.hpp"
#include "plait/sinkhorn/iteration.hpp"
#include "plait/sinkhorn/limits.hpp"
#include "plait/sinkhorn/marginals.hpp"
#include "plait/sinkhorn/scale.hpp"
#include "plait/sinkhorn/update.hpp"

namespace plait::sinkhorn {

/// What a matrix is scaled to, however it is stored; all of it outlives the run.
struct ScalingTask {
  const CheckedMarginals& marginals;
  const Limits& limits;
  const Update& update;
  double rounding;  // see `Course`
  /// Whether there is proof that the marginals can't be had, from the factors of this rank's rows: see `feasibility`.
  /// Collective.
  std::function<Feasibility(std::span<const double>)> prove;
};

/// Goes round with an iteration until there is an end. Collective over `context`.
///
/// \throws ArgumentError  on all ranks: a start or a state to go on from that does not fit
template <class A>
[[nodiscard]] Scaling<A> scaling_run(mpi::Context& context, const ScalingTask& task, Iteration<A>& iteration,
                                     std::span<const A> start);

}  // namespace plait::sinkhorn
