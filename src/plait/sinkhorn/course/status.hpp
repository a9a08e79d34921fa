#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::sinkhorn {

/// How a run came to its end.
enum class Status : unsigned char {
  converged,
  iteration_limit,
  no_support,            ///< no matrix that is 0 wherever this one is has these marginals, which are all alike
  infeasible_marginals,  ///< the same with marginals that differ
  numerical_limit,       ///< the numbers left their range, or are as good as rounding lets them be
};

/// "converged", "iteration limit", ...
[[nodiscard]] std::string_view name(Status status) noexcept;

/// What came of a run beside its numbers. The same on all ranks.
///
/// An *error* is the sum over all columns of |sum of the plan's column - sum that it is to have|, divided by the sum of
/// all marginals. With a plain update (see `Update`) the rows have their sums, and the error does not grow from
/// iteration to iteration, both up to rounding; others count what the rows are off by, too, and may grow for a while.
struct Outcome {
  Status status = Status::converged;
  std::string reason;  // in words and numbers, for people
  Index iterations = 0;
  double error = 0;
  std::vector<double> errors;  // after each iteration
};

}  // namespace plait::sinkhorn
