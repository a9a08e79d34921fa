// Moves the two operands of a multiplication into the layouts that it wants, in one exchange, with the one renumbering
// of the ranks with which least is moved for both of them together.
//
//   mpirun -n 4 build/openmpi/bin/example_batch_relabel
//
// On four ranks most of both matrices stays where it is. Nothing changes alone, or where no renumbering helps.

#include <mpi.h>

#include <array>
#include <cstdio>
#include <vector>

#include "plait/mpi.hpp"
#include "plait/redistribute.hpp"

namespace {

using plait::Index;
using plait::layout::DistributedMatrix;
using plait::layout::Layout;
using plait::layout::Owners;
using plait::redistribute::MatrixPair;
using plait::redistribute::Op;
using plait::redistribute::Operands;

double element(Index i, Index j) { return 1000.0 * static_cast<double>(i) + static_cast<double>(j); }

void fill(DistributedMatrix<double>& matrix) {
  matrix.for_each_element([](Index i, Index j, double& value) { value = element(i, j); });
}

template <class Expected>
Index count_wrong(const DistributedMatrix<double>& matrix, Expected&& expected) {
  Index wrong = 0;
  matrix.for_each_element([&](Index i, Index j, const double& value) { wrong += value == expected(i, j) ? 0 : 1; });
  return wrong;
}

Index received(const plait::redistribute::Batch& batch) { return batch.volume(0).received + batch.volume(1).received; }

}  // namespace

int main(int argc, char** argv) {
  const plait::mpi::Environment mpi(argc, argv, MPI_COMM_WORLD);
  plait::mpi::Context context(MPI_COMM_WORLD);
  const int ranks = context.size();

  // B comes in whole rows, to be transposed, and D in whole columns; both are wanted in large blocks, dealt to the
  // ranks from the last to the first.
  std::vector<int> reversed;
  for (int rank = ranks; rank-- > 0;) reversed.push_back(rank);
  const auto down = Owners::listed(ranks, 1, reversed);
  const auto across = Owners::listed(1, ranks, reversed);
  const MatrixPair b_to_a{Layout::rows({400, 600}, ranks), Layout::block_cyclic({600, 400}, 600, 400 / ranks, across),
                          Op::transpose};
  const MatrixPair d_to_c{Layout::columns({400, 500}, ranks), Layout::block_cyclic({400, 500}, 50, 50, down)};

  // Pure arithmetic: all ranks find the same without asking each other.
  const std::array sized{plait::redistribute::SizedPair{b_to_a, sizeof(double)},
                         plait::redistribute::SizedPair{d_to_c, sizeof(double)}};
  const auto relabeling = plait::redistribute::relabel(sized, ranks);
  const Layout a_layout = b_to_a.to.relabeled(relabeling.rank_of);
  const Layout c_layout = d_to_c.to.relabeled(relabeling.rank_of);

  DistributedMatrix<double> b(b_to_a.from, context.rank()), a(a_layout, context.rank());
  DistributedMatrix<double> d(d_to_c.from, context.rank()), c(c_layout, context.rank());
  fill(b);
  fill(d);
  plait::redistribute::Batch batch(context, {{b_to_a.from, a_layout, Op::transpose}, {d_to_c.from, c_layout}});
  batch.execute({Operands(2.0, b, 0.0, a), Operands(1.0, d, 0.0, c)});  // A ← 2·Bᵀ and C ← D

  const plait::redistribute::Batch as_numbered(context, {b_to_a, d_to_c});  // planned only, to compare
  std::array<Index, 3> sums{received(as_numbered), received(batch),
                            count_wrong(a, [](Index i, Index j) { return 2 * element(j, i); }) +
                                count_wrong(c, [](Index i, Index j) { return element(i, j); })};
  plait::mpi::all_reduce(context.comm(), sums, plait::mpi::Operation::sum());
  const auto& [before, after, wrong] = sums;
  if (context.rank() == 0) {
    std::printf("%lld of %lld elements move between %d ranks, %lld without relabeling: %lld bytes less, as foretold; ",
                static_cast<long long>(after),
                static_cast<long long>(elements(a_layout.shape()) + elements(c_layout.shape())), ranks,
                static_cast<long long>(before), static_cast<long long>(relabeling.cost_before - relabeling.cost_after));
    std::printf("%lld wrong elements\n", static_cast<long long>(wrong));
  }
  const bool as_foretold = (before - after) * Index{sizeof(double)} == relabeling.cost_before - relabeling.cost_after;
  return wrong == 0 && as_foretold ? 0 : 1;
}
