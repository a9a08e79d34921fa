#include "shim/scalapack/blacs.hpp"

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

}  // namespace plait::shim::scalapack
