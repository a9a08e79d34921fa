#include "shim/scalapack/grid.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <span>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"

#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/least_product.hpp"

namespace plait::shim::scalapack {

namespace {

int delete_grid(MPI_Comm /*comm*/, int /*key*/, void* grid, void* /*extra*/) {
  const std::unique_ptr<Grid> owned(static_cast<Grid*>(grid));
  return MPI_SUCCESS;
}

int attribute_key() {
  static const int key = [] {
    int created = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_grid, &created, nullptr);
    return created;
  }();
  return key;
}

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

int forget_teams(MPI_Comm /*comm*/, int /*key*/, void* kept, void* /*extra*/) {
  static_cast<KeptTeams*>(kept)->clear();
  return MPI_SUCCESS;
}

/// Those that stay: MPI_Finalize ends them, the end of a program without it doesn't.
KeptTeams& kept_teams() {
  static KeptTeams& kept = *[] {
    auto* const made = new KeptTeams;
    made->reserve(most_kept_teams);
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_teams, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, made);
    MPI_Comm_free_keyval(&key);
    return made;
  }();
  return kept;
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
  void* known = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, attribute_key(), static_cast<void*>(&known), &found);
  if (found != 0) return *static_cast<Grid*>(known);
  auto made = std::make_unique<Grid>(comm, mine);
  if (MPI_Comm_set_attr(comm, attribute_key(), made.get()) != MPI_SUCCESS) {
    throw MpiError("a BLACS grid's communicator takes no attribute");
  }
  return *made.release();  // the communicator's now
}

}  // namespace plait::shim::scalapack
