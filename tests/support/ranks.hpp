#pragma once

#include <mpi.h>

namespace plait::test {

/// A duplicate of MPI_COMM_WORLD for the tests of one program. What the test main itself sends can't meet it.
[[nodiscard]] MPI_Comm test_comm();

/// This process in `test_comm()`, and how many there are.
[[nodiscard]] int rank();
[[nodiscard]] int ranks();

}  // namespace plait::test
