#pragma once

#include <mpi.h>

#include <string>

namespace plait::capi {

/// \throws MpiError  if MPI is not running, where calls of it would end the program
void expect_mpi();

/// \throws MpiError       if MPI is not running
/// \throws ArgumentError  if it is no communicator, as far as MPI can tell, MPI_COMM_NULL, or joins two groups
void expect_communicator(MPI_Comm comm, const std::string& argument = "comm");

/// A communicator of Fortran's.
///
/// \throws MpiError       if MPI is not running
/// \throws ArgumentError  as above
[[nodiscard]] MPI_Comm from_fortran(MPI_Fint comm);

}  // namespace plait::capi
