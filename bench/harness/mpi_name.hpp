#pragma once

#include <mpi.h>

namespace plait::bench {

/// The MPI library that this was compiled for, without its version.
[[nodiscard]] constexpr const char* mpi_name() noexcept {
#if defined(OPEN_MPI)
  return "Open MPI";
#else
  return "MPICH";
#endif
}

}  // namespace plait::bench
