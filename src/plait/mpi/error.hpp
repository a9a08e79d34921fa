#pragma once

#include <mpi.h>

namespace plait::mpi {

/// Throws `MpiError` with MPI's own description unless `code` is MPI_SUCCESS. `call` is the name of the MPI function.
void check(int code, const char* call);

/// While it lives, MPI returns the errors on a communicator, whatever its error handler does with them otherwise, such
/// as to end the program. Local. Of several on one communicator, the last one ends first.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm) noexcept : comm_(comm) {
    MPI_Comm_get_errhandler(comm_, &handler_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
  ~ReturnedErrors() {
    MPI_Comm_set_errhandler(comm_, handler_);
    MPI_Errhandler_free(&handler_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace plait::mpi
