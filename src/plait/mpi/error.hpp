#pragma once

namespace plait::mpi {

/// Throws `MpiError` with MPI's own description unless `code` is MPI_SUCCESS. `call` is the name of the MPI function.
void check(int code, const char* call);

}  // namespace plait::mpi
