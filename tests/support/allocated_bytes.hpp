#pragma once

#include <cstddef>
#include <optional>

namespace plait::test {

/// How many bytes this program, which is linked with plait_allocated_bytes, has asked operator new for so far,
/// given back or not. What the MPI library takes by malloc does not count.
[[nodiscard]] std::size_t allocated_bytes() noexcept;

/// Lets operator new fail once, beyond so many allocations, at the first that differs from all that were looked at
/// since `others` was 0: it has other calls right above it, or is the
/// fourth one of the same.
void fail_allocation_after(std::size_t others) noexcept;

/// Takes that back. How many allocations preceded that which failed, if one did.
std::optional<std::size_t> failed_allocation() noexcept;

}  // namespace plait::test
