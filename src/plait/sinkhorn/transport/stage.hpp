#pragma once

#include <vector>

#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

/// Transport with one epsilon: potentials, in its units, from those of another one. Collective over the context.
namespace plait::sinkhorn {

/// What all problems have in common; the epsilon of the costs is set.
template <class A>
struct Stage {
  CostOperand<A>& costs;
  Update update;
  double span = 0;  // the largest absolute value of a cost, in units of epsilon
};

/// One of the problems.
template <class A>
struct StageProblem {
  const CheckedMarginals& marginals;
  std::vector<A>& f;
  std::vector<A>& g;
};

}  // namespace plait::sinkhorn
