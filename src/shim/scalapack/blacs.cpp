#include "shim/scalapack/blacs.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"

#include "shim/scalapack/program.hpp"

namespace plait::shim::scalapack {

namespace {

constexpr int communicator_of_grid = 10;  // what blacs_get is asked for: a handle of the grid's system context

}  // namespace

GridInfo grid_info(int context) {
  static const auto ask = loaded<void(int, int*, int*, int*, int*)>("Cblacs_gridinfo");
  GridInfo info;
  ask(context, &info.rows, &info.columns, &info.my_row, &info.my_column);
  return info;
}

// BLACS has one handle for a communicator, whoever asks, so it is not freed here.
MPI_Comm communicator_of(int context) {
  static const auto get = loaded<void(int, int, int*)>("Cblacs_get");
  static const auto to_system = loaded<MPI_Comm(int)>("Cblacs2sys_handle");
  int handle = 0;
  get(context, communicator_of_grid, &handle);
  return to_system(handle);
}

ProcessMap::ProcessMap(int grid_rows, int grid_columns)
    : rows(grid_rows),
      columns(grid_columns),
      ranks(static_cast<std::size_t>(grid_rows) * static_cast<std::size_t>(grid_columns), no_rank) {}

bool ProcessMap::place(int row, int column, int rank) {
  if (row < 0 || column < 0 || row >= rows || column >= columns) return false;
  int& position =
      ranks[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
  if (position != no_rank) return false;
  position = rank;
  return true;
}

bool ProcessMap::complete() const {
  return !ranks.empty() && std::find(ranks.begin(), ranks.end(), no_rank) == ranks.end();
}

ProcessMap ProcessMap::translated(MPI_Comm from, MPI_Comm to) const {
  MPI_Group from_group = MPI_GROUP_NULL;
  MPI_Group to_group = MPI_GROUP_NULL;
  MPI_Comm_group(from, &from_group);
  MPI_Comm_group(to, &to_group);
  ProcessMap result(rows, columns);
  MPI_Group_translate_ranks(from_group, static_cast<int>(ranks.size()), ranks.data(), to_group, result.ranks.data());
  MPI_Group_free(&from_group);
  MPI_Group_free(&to_group);
  std::replace(result.ranks.begin(), result.ranks.end(), MPI_UNDEFINED, no_rank);
  return result;
}

ProcessMap exchange_map(MPI_Comm comm, const GridInfo& mine) {
  struct Coordinates {
    int row;
    int column;
  };
  // A program may make a grid for each call, so nothing else is exchanged: without memory it ends, as in ScaLAPACK.
  const auto processes = mpi::Communicator::borrowed(comm);
  const Coordinates own{mine.my_row, mine.my_column};
  std::vector<Coordinates> all(static_cast<std::size_t>(processes.size()));
  mpi::all_gather_bytes(processes, std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  ProcessMap map(mine.rows, mine.columns);
  int rank = 0;
  for (const Coordinates& at : all) map.place(at.row, at.column, rank++);
  if (!map.complete()) {
    throw Error(ErrorKind::other, "the processes of a BLACS grid of " + std::to_string(mine.rows) + " x " +
                                      std::to_string(mine.columns) + " do not fill it");
  }
  return map;
}

}  // namespace plait::shim::scalapack
