#pragma once

#include <cstdint>

namespace plait {

/// Sizes and indices of everything that can be large: rows, columns, elements, bytes. MPI's `int` counts are met in one
/// place only, `mpi/`.
using Index = std::int64_t;

}  // namespace plait
