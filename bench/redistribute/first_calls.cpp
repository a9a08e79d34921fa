// What the first calls of a program take, and calls on grids that were just made. It calls ScaLAPACK alone;
// first_calls.py starts it with plait's library preloaded and without, in turn.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

// ScaLAPACK has no headers.
extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridmap(int* context, int* ranks, int leading_dimension, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* my_row, int* my_column);
void Cblacs_gridexit(int context);
void Cpdgemr2d(int rows, int columns, const double* a, int ia, int ja, const int* desc_a, double* b, int ib, int jb,
               const int* desc_b, int union_context);
}

namespace {

using Descriptor = std::array<int, 9>;

int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// All ranks, in a row or in a column.
class Grid {
 public:
  Grid(int rows, int columns) : context_(Csys2blacs_handle(MPI_COMM_WORLD)) {
    std::vector<int> map;
    for (int rank = 0; rank < rows * columns; ++rank) map.push_back(rank);
    Cblacs_gridmap(&context_, map.data(), rows, rows, columns);
    Cblacs_gridinfo(context_, &rows_, &columns_, &row_, &column_);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid() { Cblacs_gridexit(context_); }

  [[nodiscard]] int context() const { return context_; }
  /// Of a matrix in square blocks.
  [[nodiscard]] int local_rows(int n, int block) const { return held(n, block, row_, rows_); }
  [[nodiscard]] int local_columns(int n, int block) const { return held(n, block, column_, columns_); }

 private:
  static int held(int n, int block, int part, int parts) {
    int count = 0;
    for (int first = part * block; first < n; first += parts * block) count += std::min(block, n - first);
    return count;
  }

  int context_;
  int rows_ = 0;
  int columns_ = 0;
  int row_ = 0;
  int column_ = 0;
};

struct Matrix {
  Descriptor descriptor;
  std::vector<double> elements;
  Matrix(const Grid& grid, int rows, int columns, int block)
      : descriptor{1, grid.context(), rows, columns, block, block, 0, 0, std::max(1, grid.local_rows(rows, block))},
        elements(static_cast<std::size_t>(descriptor[8]) *
                     static_cast<std::size_t>(std::max(1, grid.local_columns(columns, block))),
                 1.0) {}
};

void copy(int rows, int columns, const Matrix& a, int first_column, Matrix& b) {
  Cpdgemr2d(rows, columns, a.elements.data(), 1, first_column, a.descriptor.data(), b.elements.data(), 1, 1,
            b.descriptor.data(), b.descriptor[1]);
}

/// Seconds until the slowest rank is done.
template <class Work>
double timed(Work&& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  work();
  const double own = MPI_Wtime() - start;
  double slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/// A matrix between two grids: the first call of the program.
double first_copy(int n) {
  const Grid from(1, ranks());
  const Grid to(ranks(), 1);
  const Matrix a(from, n, n, 32);
  Matrix b(to, n, n, 48);
  return timed([&] { copy(n, n, a, 1, b); });
}

/// Panel after panel of a matrix, each a call of its own kind.
double first_pass(int panels) {
  constexpr int width = 64;
  const int n = panels * width;
  const Grid from(1, ranks());
  const Grid to(ranks(), 1);
  const Matrix a(from, n, n, width);
  Matrix b(to, n, width, width);
  return timed([&] {
    for (int panel = 0; panel < panels; ++panel) copy(n, width, a, 1 + panel * width, b);
  });
}

/// A call on new grids, with making and freeing them.
double new_grids(int n, int rounds) {
  return timed([&] {
           for (int round = 0; round < rounds; ++round) {
             const Grid from(1, ranks());
             const Grid to(ranks(), 1);
             const Matrix a(from, n, n, 8);
             Matrix b(to, n, n, 12);
             copy(n, n, a, 1, b);
           }
         }) /
         rounds;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string name = argc > 1 ? argv[1] : "";
  double seconds = -1;
  if (name == "copy") seconds = first_copy(500);
  if (name == "panels") seconds = first_pass(31);
  if (name == "grids") seconds = new_grids(64, 100);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.9f\n", seconds);
  MPI_Finalize();
  return seconds < 0 ? 2 : 0;
}
