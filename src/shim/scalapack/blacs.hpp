#pragma once

#include <mpi.h>

namespace plait::shim::scalapack {

/// A BLACS process grid as this process sees it.
struct GridInfo {
  int rows = -1;
  int columns = -1;
  int my_row = -1;
  int my_column = -1;

  /// Whether this process is in the grid.
  [[nodiscard]] bool member() const noexcept {
    return my_row >= 0 && my_column >= 0 && my_row < rows && my_column < columns;
  }
  [[nodiscard]] long long size() const noexcept { return static_cast<long long>(rows) * columns; }
};

/// The BLACS of the program, whichever it has loaded. Local.
/// \throws plait::Error  if it has none
[[nodiscard]] GridInfo grid_info(int context);

/// The communicator of the processes of a grid that this process is in. It belongs to the BLACS, which free it with the
/// grid.
[[nodiscard]] MPI_Comm communicator_of(int context);

}  // namespace plait::shim::scalapack
