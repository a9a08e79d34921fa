#pragma once

#include <mpi.h>

namespace plait::mpi {

/// Whether MPI knows such a communicator, without a word of MPI's if not: no error handler of the program hears of it,
/// and none is changed meanwhile, which other threads might notice. Local; any thread may ask. With MPICH, the first
/// question makes a communicator, whose handle may have been one of the program's.
///
/// \pre  MPI runs; the handle is null, has been a communicator's, or MPI's own routines would find that it is none, too
[[nodiscard]] bool is_communicator(MPI_Comm comm) noexcept;

}  // namespace plait::mpi
