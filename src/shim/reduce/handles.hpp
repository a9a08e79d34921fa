#pragma once

#include <mpi.h>

/// Handles of the program, which may be none: that they are is for the call to find that the program made. So MPI is
/// asked in such a way that no error handler of the program hears of it, and none of them is changed meanwhile, which
/// other threads might notice.
namespace plait::shim::reduce {

/// Takes what asking needs. Local; once, by one thread.
/// \pre  MPI runs
void begin_asking() noexcept;

/// Gives it back. At the end of MPI, when nobody asks any more.
void end_asking() noexcept;

/// Whether MPI knows such a communicator. Any thread may ask.
/// \pre  it is null, has been a communicator, or MPI's own routines would find that it is none, too
[[nodiscard]] bool is_communicator(MPI_Comm comm) noexcept;

}  // namespace plait::shim::reduce
