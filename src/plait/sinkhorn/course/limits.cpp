#include "plait/sinkhorn/course/limits.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::sinkhorn {

void expect_fewer(const ScalingState& from, Index most_iterations) {
  if (static_cast<Index>(from.errors.size()) < most_iterations) return;
  throw ArgumentError(fmt::format("the number of iterations is limited to {}, expected more than the {} that were done",
                                  most_iterations, from.errors.size()));
}

void name_arguments(const Limits& limits, mpi::Alike& arguments) {
  arguments.add("tolerance", limits.tolerance);
  arguments.add("number of iterations", limits.most_iterations);
  arguments.add("listener", limits.listener != nullptr);
  arguments.add("checkpoints", limits.checkpoints.keep != nullptr);
  arguments.add("state to go on from", limits.checkpoints.from != nullptr);
}

void expect_valid(const Limits& limits) {
  if (!(limits.tolerance >= 0)) {
    throw ArgumentError(fmt::format("the tolerance is {}, expected a number >= 0", limits.tolerance));
  }
  if (limits.most_iterations < 0) {
    throw ArgumentError(
        fmt::format("the number of iterations is limited to {}, expected >= 0", limits.most_iterations));
  }
  if (limits.most_support_bytes < 0) {
    throw ArgumentError(
        fmt::format("the memory of the support is limited to {} bytes, expected >= 0", limits.most_support_bytes));
  }
}

}  // namespace plait::sinkhorn
