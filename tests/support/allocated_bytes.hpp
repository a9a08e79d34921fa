#pragma once

#include <cstddef>

namespace plait::test {

/// How many bytes this program, which has allocated_bytes.cpp among its sources, has asked operator new for so far,
/// given back or not. What the MPI library takes by malloc does not count.
[[nodiscard]] std::size_t allocated_bytes() noexcept;

}  // namespace plait::test
