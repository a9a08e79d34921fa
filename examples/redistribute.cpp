// Moves a matrix from the block-cyclic layout of ScaLAPACK into whole columns, transposed on the way:  A ← 2·Bᵀ.
//
//   build/openmpi/bin/example_redistribute                      alone
//   mpirun -n 4 build/openmpi/bin/example_redistribute          on four ranks: each holds its part of both

#include "plait/redistribute.hpp"

#include <mpi.h>

#include <cstdio>

#include "plait/mpi.hpp"

int main(int argc, char** argv) {
  const plait::mpi::Environment mpi(argc, argv, MPI_COMM_WORLD);
  plait::mpi::Context context(MPI_COMM_WORLD);

  const plait::layout::Shape shape{600, 400};
  const auto from = plait::layout::Layout::block_cyclic(shape, 32, 32, plait::layout::Owners::grid(context.size(), 1));
  const auto to = plait::layout::Layout::columns({400, 600}, context.size());
  plait::layout::DistributedMatrix<double> b(from, context.rank());
  plait::layout::DistributedMatrix<double> a(to, context.rank());
  b.for_each_element([](plait::Index i, plait::Index j, double& value) { value = 1000.0 * double(i) + double(j); });

  plait::redistribute::Redistribution plan(context, from, to, plait::redistribute::Op::transpose);
  plan.execute(2.0, b, 0.0, a);  // as often as you like, on any matrices of these layouts

  plait::Index wrong = 0;
  a.for_each_element([&](plait::Index i, plait::Index j, double& value) {
    if (value != 2 * (1000.0 * double(j) + double(i))) ++wrong;
  });
  std::printf("rank %d of %d: %lld wrong elements\n", context.rank(), context.size(), static_cast<long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
