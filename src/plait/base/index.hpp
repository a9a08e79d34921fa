#pragma once

#include <cstddef>
#include <cstdint>

namespace plait {

/// Sizes and indices of everything that can be large: rows, columns, elements, bytes. MPI's `int` counts are met in one
/// place only, `mpi/`.
using Index = std::int64_t;

/// A number of something, a rank or a row, as the standard containers count their elements.
[[nodiscard]] constexpr std::size_t at(Index number) { return static_cast<std::size_t>(number); }

}  // namespace plait
