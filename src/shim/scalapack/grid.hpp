#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

#include "shim/scalapack/plan_cache.hpp"
#include "shim/scalapack/process_map.hpp"
#include "shim/scalapack/products.hpp"

namespace plait::shim::scalapack {

/// What this library keeps of a BLACS grid. It hangs on the grid's communicator as an MPI attribute and goes with it,
/// in blacs_gridexit: the number of a context, which BLACS uses again, never finds what belonged to another grid.
class Grid {
 public:
  Grid(MPI_Comm comm, const GridInfo& mine);
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid();

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] const ProcessMap& map() const noexcept { return map_; }

  /// Tells this grid from all others that there ever were in this process.
  [[nodiscard]] Index serial() const noexcept { return serial_; }

  /// For communication among all processes of the grid; made when it is first asked for. Collective then. Only the few
  /// grids that were asked last keep memory for data under way.
  /// \throws PassOn  on all processes alike, if one of them has a hundred others already
  [[nodiscard]] mpi::Context& context();

  /// Of calls that communicate on this grid's context.
  [[nodiscard]] PlanCache& plans() noexcept { return plans_; }
  [[nodiscard]] ProductCache& products() noexcept { return products_; }

  /// The order of the least matrices whose products are served; exchanged when it is first asked for. Collective then.
  [[nodiscard]] int least_order();

 private:
  MPI_Comm comm_;
  ProcessMap map_;
  Index serial_;
  std::unique_ptr<mpi::Context> context_;
  PlanCache plans_;  // after the context, which plans use until they end
  ProductCache products_;
  std::optional<int> least_order_;
  bool is_left_out_ = false;  // there were too many contexts when one was asked for
};

/// Collective over the processes of the grid, all of whom are in the call; communicates when the grid is new.
/// \pre  this process is in the grid
[[nodiscard]] Grid& grid_of(int blacs_context, const GridInfo& mine);

}  // namespace plait::shim::scalapack
