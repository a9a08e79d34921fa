#include "bench/peers/scalapack.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "plait/base/memory.hpp"
#include "plait/layout/layout.hpp"

// ScaLAPACK has no headers.
extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridmap(int* context, int* ranks, int leading_dimension, int rows, int columns);
void Cblacs_gridexit(int context);
void Cpdgemr2d(int rows, int columns, const double* a, int ia, int ja, const int* desc_a, double* b, int ib, int jb,
               const int* desc_b, int union_context);
void pdtran_(const int* rows, const int* columns, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* desc_a, const double* beta, double* c, const int* ic, const int* jc, const int* desc_c);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desc_a, const double* b, const int* ib,
             const int* jb, const int* desc_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* desc_c);
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

Descriptor descriptor(const Layout& layout, int context, Index leading_dimension) {
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
          as_int(leading_dimension)};
}

/// A layout on a BLACS grid of its own.
struct Described {
  Grid grid;
  Descriptor descriptor;
  Described(MPI_Comm comm, const Layout& layout, Index leading_dimension)
      : grid(comm, layout.owners()), descriptor(bench::descriptor(layout, grid.context(), leading_dimension)) {}
};

void copy(const Described& from, const double* source, const Described& to, double* target) {
  // All ranks are in either grid, so either context will do for the union of both.
  Cpdgemr2d(to.descriptor[2], to.descriptor[3], source, 1, 1, from.descriptor.data(), target, 1, 1,
            to.descriptor.data(), to.grid.context());
}

void transpose(double alpha, const Descriptor& from, const double* source, double beta, const Descriptor& to,
               double* target) {
  constexpr int first = 1;
  pdtran_(&to[2], &to[3], &alpha, source, &first, &first, from.data(), &beta, target, &first, &first, to.data());
}

bool is_known(const Layout& layout, int ranks) {
  return layout.rows().cutting() == layout::Cutting::cyclic && layout.columns().cutting() == layout::Cutting::cyclic &&
         layout.storage() == StorageOrder::column_major &&
         layout.owners().rows() * layout.owners().columns() == ranks && layout.owners().distinct() == ranks;
}

}  // namespace

std::optional<Contender> scalapack(MPI_Comm comm, const MovedMatrix& matrix) {
  const Layout &from = matrix.from(), &to = matrix.to();
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (!is_known(from, ranks) || !is_known(to, ranks)) return std::nullopt;
  const matrix_view<const double> source = matrix.source_tiles().front();
  const matrix_view<double> target = matrix.target_tiles().front();

  const double alpha = matrix.alpha();
  const double beta = matrix.beta();
  const bool only_moves = alpha == 1 && beta == 0;
  const auto b = std::make_shared<Described>(comm, from, source.leading_dimension());
  if (!redistribute::transposes(matrix.op())) {
    if (!only_moves) return std::nullopt;
    const auto a = std::make_shared<Described>(comm, to, target.leading_dimension());
    return Contender{"ScaLAPACK pdgemr2d", [=] { copy(*b, source.data(), *a, target.data()); }};
  }
  if (from.owners() == to.owners()) {
    const Descriptor a = descriptor(to, b->grid.context(), target.leading_dimension());
    return Contender{"ScaLAPACK pdtran",
                     [=] { transpose(alpha, b->descriptor, source.data(), beta, a, target.data()); }};
  }
  if (!only_moves) return std::nullopt;
  // The target's blocks on the source's grid.
  const auto transposed = Layout::block_cyclic(to.shape(), to.rows().block(), to.columns().block(), from.owners());
  const Index rows = std::max(Index{1}, transposed.tiles_of(rank).at(0).rows);
  const auto a = std::make_shared<Described>(comm, to, target.leading_dimension());
  const auto c = std::make_shared<Described>(comm, transposed, rows);
  const Descriptor there = descriptor(transposed, b->grid.context(), rows);
  const auto memory = std::make_shared<Array<double>>(transposed.elements_of(rank));
  return Contender{"ScaLAPACK pdtran, pdgemr2d", [=] {
                     transpose(1, b->descriptor, source.data(), 0, there, memory->data());
                     copy(*c, memory->data(), *a, target.data());
                   }};
}

std::optional<Contender> scalapack_product(MPI_Comm comm, const layout::DistributedMatrix<double>& a,
                                           const layout::DistributedMatrix<double>& b,
                                           layout::DistributedMatrix<double>& c) {
  const auto grid = std::make_shared<Grid>(comm, c.layout().owners());
  const auto described = [&](const layout::DistributedMatrix<double>& matrix) {
    return descriptor(matrix.layout(), grid->context(), matrix.const_tiles().front().leading_dimension());
  };
  const Descriptor desc_a = described(a), desc_b = described(b), desc_c = described(c);
  return Contender{
      "ScaLAPACK pdgemm", [=, a = a.const_tiles().front(), b = b.const_tiles().front(), c = c.tiles().front()] {
        static_cast<void>(grid);  // lives as long as its number is used
        constexpr int first = 1;
        constexpr double alpha = 1, beta = 0;
        pdgemm_("N", "N", &desc_c[2], &desc_c[3], &desc_a[3], &alpha, a.data(), &first, &first, desc_a.data(), b.data(),
                &first, &first, desc_b.data(), &beta, c.data(), &first, &first, desc_c.data());
      }};
}

}  // namespace plait::bench
