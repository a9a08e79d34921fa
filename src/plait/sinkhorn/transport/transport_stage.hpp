#pragma once

#include <optional>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

/// Transport with one epsilon: potentials, in its units, from those of another one. Collective over the context.
namespace plait::sinkhorn {

/// One stage; the epsilon of its costs is set.
template <class A>
struct StageTask {
  CostOperand<A>& costs;
  const CheckedMarginals& marginals;
  Update update;
  double span = 0;  // the largest absolute value of a cost, in units of epsilon
};

/// By factors: of the matrix exp(f + g - C / epsilon), with the f that makes the largest entry of each row 1. Null
/// where that does not work out: a column of it is 0, or numbers leave their range on the way, in which case the
/// potentials of the columns are as good as that way was.
template <class A>
[[nodiscard]] std::optional<Outcome> stage_by_factors(mpi::Context& context, const StageTask<A>& task,
                                                      const Limits& limits, std::vector<A>& f, std::vector<A>& g);

/// By logarithms. States that are kept have errors only: the potentials are the caller's. Where sums left the range of
/// numbers, which they do only when costs are so many epsilons that rounding them is more than epsilon, the status is
/// that of a numerical limit, and the error infinite: there is no plan.
template <class A>
[[nodiscard]] Outcome stage_by_logarithms(mpi::Context& context, const StageTask<A>& task, const Limits& limits,
                                          std::vector<A>& f, std::vector<A>& g);

}  // namespace plait::sinkhorn
