#pragma once

#include <cstddef>

namespace plait::test {

/// How many bytes this program, which has allocated_bytes.cpp among its sources, has asked operator new for so far,
/// given back or not. What the MPI library takes by malloc does not count.
[[nodiscard]] std::size_t allocated_bytes() noexcept;

/// Lets operator new fail once, after so many times more that it does not.
void fail_allocation_after(std::size_t others) noexcept;

/// Takes that back. Whether it has failed.
bool has_failed_allocation() noexcept;

}  // namespace plait::test
