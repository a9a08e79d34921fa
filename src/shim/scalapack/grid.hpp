#pragma once

#include <mpi.h>

#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/exchange/node_rings.hpp"

#include "shim/scalapack/blacs.hpp"
#include "shim/scalapack/plan_cache.hpp"

namespace plait::shim::scalapack {

/// Processes that communicate, in the order of a grid's communicator, and what calls of theirs use again: a program
/// that makes grids for each call finds it there. The first few teams of a program stay until MPI_Finalize, others go
/// with their grid: so all processes of a team always agree that it is there.
struct Team {
  /// Collective.
  explicit Team(MPI_Comm comm);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  mpi::Context context;
  std::shared_ptr<redistribute::RingMemory> rings;  // one call is served at a time
  PlanCache plans;                                  // after what they use until they end
};

/// What this library keeps of a BLACS grid. It hangs on the grid's communicator as an MPI attribute and goes with it,
/// in blacs_gridexit: the number of a context, which BLACS uses again, never finds what belonged to another grid.
class Grid {
 public:
  Grid(MPI_Comm comm, const GridInfo& mine);

  [[nodiscard]] const ProcessMap& map() const noexcept { return map_; }
  /// The map of another grid in the ranks of this one; `no_rank` for processes that are not in it. Local; until it is
  /// asked for some others.
  [[nodiscard]] const ProcessMap& map_of(const Grid& other);

  /// All processes of the grid; found when it is first asked for. Collective then, where there is no such team yet.
  /// Only the few that were asked last keep memory for data under way.
  /// \throws PassOn  on all processes alike, if one of them is in a hundred others already
  [[nodiscard]] Team& team();
  [[nodiscard]] mpi::Context& context() { return team().context; }

  [[nodiscard]] ProductCache& products() noexcept { return products_; }

  /// The order of the least matrices whose products are served; exchanged when it is first asked for. Collective then.
  [[nodiscard]] int least_order();

 private:
  void find_team();

  MPI_Comm comm_;
  ProcessMap map_;
  Index serial_;  // tells this grid from all others that there ever were in this process
  std::list<std::pair<Index, ProcessMap>> maps_of_others_;  // by serial, the latest first
  std::shared_ptr<Team> team_;
  ProductCache products_;  // after the team, whose context products use until they end
  std::optional<int> least_order_;
  bool is_left_out_ = false;  // there were too many teams when one was asked for
};

/// Collective over the processes of the grid, all of whom are in the call; communicates when the grid is new.
/// \pre  this process is in the grid
[[nodiscard]] Grid& grid_of(int blacs_context, const GridInfo& mine);

}  // namespace plait::shim::scalapack
