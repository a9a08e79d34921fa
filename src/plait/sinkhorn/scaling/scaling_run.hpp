#pragma once

#include <functional>
#include <span>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

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

/// Columns without mass have no factor that counts. For double and float.
///
/// \throws ArgumentError  a start of another length than the columns' marginals, or with factors that are not positive
///                        and finite
template <class A>
void expect_factors(std::span<const A> start, std::span<const double> marginals);

/// Beside the sums of the columns: what rows are to sum up to, what they are off by, and how many have no factor.
inline constexpr Index scaling_riders = 3;

/// vector ← the sum of all ranks'.
template <class A>
using SumUp = std::function<void(std::span<A> vector)>;

/// Goes round with an iteration until there is an end; its factors are then those of the scaling. Collective over
/// `context`.
///
/// \param sum_over_ranks  of as many sums as there are columns, and `scaling_riders` more
///
/// \throws ArgumentError  on all ranks: a start or a state to go on from that does not fit
template <class A>
[[nodiscard]] Outcome scaling_run(mpi::Context& context, const ScalingTask& task, Iteration<A>& iteration,
                                  std::span<const A> start, SumUp<A> sum_over_ranks);

}  // namespace plait::sinkhorn
