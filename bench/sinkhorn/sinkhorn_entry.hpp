#pragma once

#include <cstdint>

#include "plait/base/index.hpp"

namespace plait::bench {

/// Entries between 1/2 and 1: a step of a fast generator, as whole matrices are written before each run.
[[nodiscard]] inline double sinkhorn_entry(Index i, Index j) noexcept {
  const auto mixed =
      (static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(j)) * 0xd1342543de82ef95U;
  return 0.5 + static_cast<double>(mixed >> 44) * 0x1p-21;
}

}  // namespace plait::bench
