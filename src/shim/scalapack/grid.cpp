#include "shim/scalapack/grid.hpp"

#include <list>

#include "plait/base/error.hpp"

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

/// The grids that communicated last, the latest first.
std::list<Grid*>& latest_grids() {
  static std::list<Grid*> grids;
  return grids;
}

}  // namespace

Grid::Grid(MPI_Comm comm, const GridInfo& mine) : comm_(comm), map_(exchange_map(comm, mine)), serial_(next_serial()) {}

Grid::~Grid() { latest_grids().remove(this); }

mpi::Context& Grid::context() {
  if (!context_) context_ = std::make_unique<mpi::Context>(comm_);
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
