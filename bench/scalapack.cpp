#include "bench/scalapack.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/memory.hpp"

// ScaLAPACK has no headers.
extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridmap(int* context, int* ranks, int leading_dimension, int rows, int columns);
void Cblacs_gridexit(int context);
void Cpdgemr2d(int rows, int columns, const double* a, int ia, int ja, const int* desc_a, double* b, int ib, int jb,
               const int* desc_b, int union_context);
void pdtran_(const int* rows, const int* columns, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* desc_a, const double* beta, double* c, const int* ic, const int* jc, const int* desc_c);
}

namespace plait::bench {

namespace {

using layout::Layout;
using Descriptor = std::array<int, 9>;

/// A BLACS process grid in which position (i, j) is the rank that owns tile (i, j) of the layout.
class Grid {
 public:
  // BLACS has one handle for a communicator, whoever asks, so no grid may free it.
  Grid(MPI_Comm comm, const layout::Owners& owners) : context_(Csys2blacs_handle(comm)) {
    std::vector<int> ranks;  // column-major; not BLACS's own numbering, which is by rows whatever the grid's order
    for (Index column = 0; column < owners.columns(); ++column) {
      for (Index row = 0; row < owners.rows(); ++row) ranks.push_back(owners.owner(row, column));
    }
    const auto rows = static_cast<int>(owners.rows());
    Cblacs_gridmap(&context_, ranks.data(), rows, rows, static_cast<int>(owners.columns()));
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid() { Cblacs_gridexit(context_); }
  [[nodiscard]] int context() const noexcept { return context_; }

 private:
  int context_;
};

Index local_rows(const Layout& layout, int rank) {
  const auto tiles = layout.tiles_of(rank);
  PLAIT_ASSERT(tiles.size() == 1, "every rank of the process grid has its local array");
  return tiles[0].rows;
}

Descriptor descriptor(const Layout& layout, int context, int rank) {
  const auto as_int = [](Index value) { return static_cast<int>(value); };
  constexpr int dense = 1;
  return {dense,
          context,
          as_int(layout.shape().rows),
          as_int(layout.shape().columns),
          as_int(layout.rows().block()),
          as_int(layout.columns().block()),
          as_int(layout.rows().first_part()),
          as_int(layout.columns().first_part()),
          std::max(1, as_int(local_rows(layout, rank)))};
}

/// A layout on a BLACS grid of its own.
struct Described {
  Grid grid;
  Descriptor descriptor;
  Described(MPI_Comm comm, const Layout& layout, int rank)
      : grid(comm, layout.owners()), descriptor(bench::descriptor(layout, grid.context(), rank)) {}
};

void copy(const Described& from, const double* source, const Described& to, double* target) {
  // All ranks are in either grid, so either context will do for the union of both.
  Cpdgemr2d(to.descriptor[2], to.descriptor[3], source, 1, 1, from.descriptor.data(), target, 1, 1,
            to.descriptor.data(), to.grid.context());
}

void transpose(const Descriptor& from, const double* source, const Descriptor& to, double* target) {
  constexpr int first = 1;
  constexpr double alpha = 1;
  constexpr double beta = 0;
  pdtran_(&to[2], &to[3], &alpha, source, &first, &first, from.data(), &beta, target, &first, &first, to.data());
}

}  // namespace

std::optional<Contender> scalapack(MPI_Comm comm, const Layout& from, const Layout& to, redistribute::Op op,
                                   const double* source, double* target) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto b = std::make_shared<Described>(comm, from, rank);
  if (!redistribute::transposes(op)) {
    const auto a = std::make_shared<Described>(comm, to, rank);
    return Contender{"ScaLAPACK pdgemr2d", [=] { copy(*b, source, *a, target); }};
  }
  // The target's blocks on the source's grid.
  const auto transposed = Layout::block_cyclic(to.shape(), to.rows().block(), to.columns().block(), from.owners());
  const Descriptor there = descriptor(transposed, b->grid.context(), rank);
  if (from.owners() == to.owners()) {
    return Contender{"ScaLAPACK pdtran", [=] { transpose(b->descriptor, source, there, target); }};
  }
  const auto a = std::make_shared<Described>(comm, to, rank);
  const auto c = std::make_shared<Described>(comm, transposed, rank);
  const auto memory = std::make_shared<Array<double>>(transposed.elements_of(rank));
  return Contender{"ScaLAPACK pdtran, pdgemr2d", [=] {
                     transpose(b->descriptor, source, there, memory->data());
                     copy(*c, memory->data(), *a, target);
                   }};
}

}  // namespace plait::bench
