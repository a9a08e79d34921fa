#pragma once

#include <cstdint>

#include "plait/layout/layout.hpp"

namespace plait::layout {

/// A number that tells layouts apart: equal for equal ones, and for others equal with probability 2^-64, whatever they
/// differ in. Ranks compare it to see whether they mean the same. It costs as much as the owner table and the splits
/// that a custom layout holds, and nothing for a closed formula.
[[nodiscard]] std::uint64_t fingerprint(const Layout& layout);

}  // namespace plait::layout
