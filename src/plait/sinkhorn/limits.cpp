#include "plait/sinkhorn/limits.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::sinkhorn {

void expect_valid(const Limits& limits) {
  if (!(limits.tolerance >= 0)) {
    throw ArgumentError(fmt::format("the tolerance is {}, expected a number >= 0", limits.tolerance));
  }
  if (limits.most_iterations < 0) {
    throw ArgumentError(
        fmt::format("the number of iterations is limited to {}, expected >= 0", limits.most_iterations));
  }
}

}  // namespace plait::sinkhorn
