#pragma once

#include "plait/base/index.hpp"

namespace plait::graph {

/// The rank of a role, or the role of a rank, that has none yet.
inline constexpr int nobody = -1;

/// What the largest savings of all roles add up to at most, so that no assignment's sum overflows.
inline constexpr Index most_savings = Index{1} << 62;

}  // namespace plait::graph
