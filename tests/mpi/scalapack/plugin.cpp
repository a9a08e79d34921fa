// A plug-in that brings its own ScaLAPACK, as extension modules of Python do.
#include <cstddef>
#include <vector>

#include "tests/mpi/scalapack/scalapack.hpp"

/// Transposes a matrix from rows to columns of processes and back, and adds the matrix. On all processes; returns how
/// many elements of its own are not what they were twice.
extern "C" __attribute__((visibility("default"))) int wrong_elements() {
  MPI_Init(nullptr, nullptr);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int context = Csys2blacs_handle(MPI_COMM_WORLD);
  Cblacs_gridinit(&context, "R", size, 1);
  const int one = 1;
  const int n = 3 * size;
  const std::vector<int> desc{1, context, n, n, 3, 3, 0, 0, 3};  // 3 rows each
  const auto elements = 3 * static_cast<std::size_t>(n);
  std::vector<double> a(elements);
  for (std::size_t i = 0; i < elements; ++i) a[i] = static_cast<double>(i);
  std::vector<double> b(elements);
  std::vector<double> c = a;
  const double alpha = 1;
  const double zero = 0;
  pdtran_(&n, &n, &alpha, a.data(), &one, &one, desc.data(), &zero, b.data(), &one, &one, desc.data());
  pdgeadd_("T", &n, &n, &alpha, b.data(), &one, &one, desc.data(), &alpha, c.data(), &one, &one, desc.data());
  int wrong = 0;
  for (std::size_t i = 0; i < elements; ++i) wrong += c[i] == 2 * a[i] ? 0 : 1;
  Cblacs_gridexit(context);
  MPI_Finalize();
  return wrong;
}
