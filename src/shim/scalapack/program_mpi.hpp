#pragma once

namespace plait::shim::scalapack {

/// Ends a program of another MPI than the one that this library was built for: now that both are loaded, some of its
/// calls would go to one of them and some to the other. Rank 0 says so in a line.
void expect_mpi_of_program();

}  // namespace plait::shim::scalapack
