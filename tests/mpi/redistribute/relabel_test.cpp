#include "plait/redistribute/relabel/relabel.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Redistribution;
using redistribute::Relabeling;
using redistribute::SizedPair;

TEST(RelabelingUnderMpi, MovesAsLittleInThePermutedLayoutAsInThePermutedCommunicator) {
  mpi::Context context(test_comm());
  Random random(static_cast<std::uint64_t>(ranks()) + 20);
  for (int round = 0; round < 20; ++round) {
    const layout::Shape shape{uniform(random, 0, 60), uniform(random, 0, 60)};
    const Layout from = random_layout(random, shape, ranks());
    const Layout to = random_layout(random, shape, ranks());
    const SizedPair pair{{from, to}, sizeof(double)};
    const Relabeling relabeling = redistribute::relabel({&pair, 1}, ranks());

    DistributedMatrix<double> b(from, rank());
    b.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
    DistributedMatrix<double> a(to.relabeled(relabeling.rank_of), rank());
    Redistribution plan(context, from, a.layout());
    plan.execute(b, a);
    EXPECT_EQ(wrong_elements(a, 1), 0);
    const Index sent = mpi::all_reduce(context.comm(), plan.volume().sent, mpi::Operation::sum());
    EXPECT_EQ(sent * Index{sizeof(double)}, relabeling.cost_after);

    // The same tile, known by the rank's role.
    const mpi::Communicator permuted = context.comm().permuted(relabeling.rank_of);
    EXPECT_EQ(relabeling.rank_of[static_cast<std::size_t>(permuted.rank())], rank());
    EXPECT_EQ(to.elements_of(permuted.rank()), a.layout().elements_of(rank()));
  }
}

TEST(RelabelingUnderMpi, PermutesACommunicatorOnlyByAPermutation) {
  const mpi::Communicator comm = mpi::Communicator::borrowed(test_comm());
  std::vector<int> reversed(static_cast<std::size_t>(ranks()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  EXPECT_EQ(comm.permuted(reversed).rank(), ranks() - 1 - rank());

  std::vector<int> twice(static_cast<std::size_t>(ranks()), 0);
  twice.back() = ranks() == 1 ? 1 : 0;
  EXPECT_THROW((void)comm.permuted(twice), ArgumentError);
  EXPECT_THROW((void)comm.permuted({}), ArgumentError);
  EXPECT_THROW((void)comm.permuted(rank() == 0 ? twice : reversed), ArgumentError);
  if (ranks() > 1) {
    std::vector<int> own(reversed.rbegin(), reversed.rend());
    EXPECT_THROW((void)comm.permuted(rank() == 0 ? own : reversed), ArgumentError);
  }
  std::vector<int> longer(static_cast<std::size_t>(ranks()) + 1);
  std::iota(longer.begin(), longer.end(), 0);
  EXPECT_THROW((void)comm.permuted(longer), ArgumentError);
}

}  // namespace
}  // namespace plait::test
