#pragma once

#include <cstddef>

namespace plait::test {

/// How many bytes this program has asked operator new for so far, given back or not.
[[nodiscard]] std::size_t allocated_bytes() noexcept;

}  // namespace plait::test
