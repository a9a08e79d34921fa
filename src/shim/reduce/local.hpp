#pragma once

#include <mpi.h>

#include "plait/base/index.hpp"

namespace plait::shim::reduce {

/// MPI_Reduce_local by plait's kernels.
/// \return  false, with nothing done, where the call is MPI's
[[nodiscard]] bool reduce_local(const void* in, void* inout, Index count, MPI_Datatype type, MPI_Op operation) noexcept;

}  // namespace plait::shim::reduce
