#pragma once

#include <mpi.h>

#include "plait/base/index.hpp"

#include "shim/reduce/log.hpp"

namespace plait::shim::reduce {

/// From how many bytes of operands on plait reduces faster than MPI among the ranks of a node: always, as measured with
/// Open MPI 4.1.4 and MPICH 4.0.2 on two cores, but that Open MPI's MPI_Reduce of a few elements may be as fast: its
/// root finds them in the mailbox of its own.
constexpr Index least_bytes([[maybe_unused]] Routine routine) noexcept {
#if defined(OPEN_MPI)
  if (routine == Routine::reduce) return 256;
#endif
  return 1;
}

}  // namespace plait::shim::reduce
