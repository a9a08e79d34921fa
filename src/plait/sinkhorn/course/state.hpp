#pragma once

#include <functional>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::sinkhorn {

/// Where a scaling was, so that another run goes on with the same bits. Doubles hold the numbers of all precisions.
struct ScalingState {
  std::vector<double> u;       // of this rank's rows
  std::vector<double> v;       // of all columns, for the next iteration
  std::vector<double> errors;  // after each iteration so far
};

/// How a scaling that may be stopped is kept, and gone on with.
struct ScalingCheckpoints {
  /// Asked on all ranks before each iteration but the first, with how many there were: whether the state is to be kept,
  /// with the same answer on all of them; empty: never.
  std::function<bool(Index iterations)> is_due = {};
  /// Called on all ranks; what it throws on one of them has to be thrown on all. May be empty.
  std::function<void(const ScalingState&)> keep = {};
  /// To go on from; none: from the beginning. The same on all ranks.
  const ScalingState* from = nullptr;
};

}  // namespace plait::sinkhorn
