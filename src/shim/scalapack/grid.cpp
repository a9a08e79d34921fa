#include "shim/scalapack/grid.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <span>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/attribute.hpp"
#include "plait/mpi/collectives.hpp"

#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/plan_cache.hpp"

namespace plait::shim::scalapack {

namespace {

Index next_serial() {
  static Index last = 0;
  return ++last;
}

constexpr std::size_t teams_with_memory = 4;
constexpr std::size_t most_kept_teams = 8;
constexpr std::size_t most_known_maps = 8;

// A context takes two communicators, of which MPICH has 2,046 in all, and a BLACS grid four: a program with hundreds of
// grids is to have them for itself.
constexpr Index most_teams = 100;

Index& teams() {
  static Index alive = 0;
  return alive;
}

/// Those that communicated last, the latest first.
std::list<Team*>& latest_teams() {
  static std::list<Team*> latest;
  return latest;
}

using KeptTeams = std::vector<std::shared_ptr<Team>>;

/// Those that stay: MPI_Finalize ends them, the end of a program without it doesn't.
KeptTeams& kept_teams() {
  if (KeptTeams* const kept = mpi::Attribute<KeptTeams>::of(MPI_COMM_SELF)) return *kept;
  auto made = std::make_unique<KeptTeams>();
  made->reserve(most_kept_teams);
  return mpi::Attribute<KeptTeams>::keep(MPI_COMM_SELF, std::move(made));
}

}  // namespace

Team::Team(MPI_Comm comm) : context(comm), rings(std::make_shared<redistribute::RingMemory>(context)) { ++teams(); }

Team::~Team() {
  latest_teams().remove(this);
  --teams();
}

Grid::Grid(MPI_Comm comm, const GridInfo& mine) : comm_(comm), map_(exchange_map(comm, mine)), serial_(next_serial()) {}

const ProcessMap& Grid::map_of(const Grid& other) {
  if (&other == this) return map_;
  const auto known = std::ranges::find(maps_of_others_, other.serial_, &std::pair<Index, ProcessMap>::first);
  if (known != maps_of_others_.end()) {
    maps_of_others_.splice(maps_of_others_.begin(), maps_of_others_, known);
  } else {
    maps_of_others_.emplace_front(other.serial_, other.map_.translated(other.comm_, comm_));
    if (maps_of_others_.size() > most_known_maps) maps_of_others_.pop_back();
  }
  return maps_of_others_.front().second;
}

void Grid::find_team() {
  KeptTeams& kept = kept_teams();
  const auto has_same_processes = [this](const std::shared_ptr<Team>& team) {
    int relation = MPI_UNEQUAL;
    MPI_Comm_compare(comm_, team->context.comm().handle(), &relation);
    return relation == MPI_CONGRUENT;
  };
  if (const auto found = std::ranges::find_if(kept, has_same_processes); found != kept.end()) {
    team_ = *found;
    return;
  }
  // Processes may be in different numbers of teams.
  std::array<Index, 2> room{teams() < most_teams ? 1 : 0, kept.size() < most_kept_teams ? 1 : 0};
  mpi::all_reduce(mpi::Communicator::borrowed(comm_), std::span<Index>(room), mpi::Operation::minimum());
  const auto [for_a_team, to_keep_it] = room;
  is_left_out_ = for_a_team == 0;
  if (is_left_out_) return;
  team_ = std::make_shared<Team>(comm_);
  if (to_keep_it != 0) kept.push_back(team_);
}

Team& Grid::team() {
  if (!team_ && !is_left_out_) find_team();
  if (is_left_out_) throw PassOn{"more process grids at a time than are served"};
  std::list<Team*>& latest = latest_teams();
  if (latest.empty() || latest.front() != team_.get()) {
    latest.remove(team_.get());
    latest.push_front(team_.get());
    if (latest.size() > teams_with_memory) {
      latest.back()->context.staging().trim();
      latest.pop_back();
    }
  }
  return *team_;
}

int Grid::least_order() {
  if (!least_order_) least_order_ = scalapack::least_order(context().comm());
  return *least_order_;
}

Grid& grid_of(int blacs_context, const GridInfo& mine) {
  MPI_Comm const comm = communicator_of(blacs_context);
  if (Grid* const known = mpi::Attribute<Grid>::of(comm)) return *known;
  return mpi::Attribute<Grid>::keep(comm, std::make_unique<Grid>(comm, mine));
}

}  // namespace plait::shim::scalapack
