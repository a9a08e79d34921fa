#pragma once

#include <mpi.h>

#include <vector>

#include "plait/layout/owners.hpp"

/// The process grids of the BLACS.
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

/// Which rank of some communicator stands where in a process grid: `ranks[row * columns + column]`. It is exchanged,
/// never guessed: BLACS's own process numbers are no ranks, and grids may be made of any processes in any order.
struct ProcessMap {
  static constexpr int no_rank = -1;

  int rows = 0;
  int columns = 0;
  std::vector<int> ranks;

  ProcessMap() = default;
  ProcessMap(int grid_rows, int grid_columns);

  /// False if there is no such position, or somebody stands there already.
  bool place(int row, int column, int rank);

  /// Whether somebody stands everywhere.
  [[nodiscard]] bool complete() const;

  /// The same grid in the ranks of another communicator; `no_rank` for processes that are not in it. Local.
  [[nodiscard]] ProcessMap translated(MPI_Comm from, MPI_Comm to) const;

  /// \pre  complete()
  [[nodiscard]] layout::Owners owners() const { return layout::Owners::listed(rows, columns, ranks); }
};

/// The map of the grid that `comm` is the communicator of, in its ranks. Collective over `comm`: one all-gather.
[[nodiscard]] ProcessMap exchange_map(MPI_Comm comm, const GridInfo& mine);

}  // namespace plait::shim::scalapack
