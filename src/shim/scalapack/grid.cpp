#include "shim/scalapack/grid.hpp"

#include <list>

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

constexpr std::size_t grids_with_memory = 4;

// A context takes two communicators, of which MPICH has 2,046 in all, and a BLACS grid four: a program with hundreds of
// grids is to have them for itself.
constexpr Index most_contexts = 100;

Index& contexts() {
  static Index alive = 0;
  return alive;
}

/// The grids that communicated last, the latest first.
std::list<Grid*>& latest_grids() {
  static std::list<Grid*> grids;
  return grids;
}

}  // namespace

Grid::Grid(MPI_Comm comm, const GridInfo& mine) : comm_(comm), map_(exchange_map(comm, mine)), serial_(next_serial()) {}

Grid::~Grid() {
  latest_grids().remove(this);
  if (context_) --contexts();
}

mpi::Context& Grid::context() {
  if (!context_ && !is_left_out_) {
    // Processes may be in different numbers of grids.
    const Index has_room = contexts() < most_contexts ? 1 : 0;
    is_left_out_ = mpi::all_reduce(mpi::Communicator::borrowed(comm_), has_room, mpi::Operation::minimum()) == 0;
    if (!is_left_out_) {
      context_ = std::make_unique<mpi::Context>(comm_);
      ++contexts();
    }
  }
  if (is_left_out_) throw PassOn{"more process grids at a time than are served"};
  std::list<Grid*>& latest = latest_grids();
  if (latest.empty() || latest.front() != this) {
    latest.remove(this);
    latest.push_front(this);
    if (latest.size() > grids_with_memory) {
      latest.back()->context_->staging().trim();
      latest.pop_back();
    }
  }
  return *context_;
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
