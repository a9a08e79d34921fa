// A rank that has no memory left, not even for a little, tells the others.
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/active_ranks.hpp"
#include "plait/mpi/node/shared_pool.hpp"

#include "support/allocation_failures.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

TEST(AllocationFailures, end_a_lease_of_shared_memory_on_all_ranks) {
  mpi::Context context(test_comm());
  mpi::SharedPool pool(context.topology().node());
  std::vector<mpi::SharedPool::Lease> leases;
  leases.reserve(100);
  for (int lease = 0; lease < 3; ++lease) {
    expect_one_end_on_all_ranks([&] { leases.push_back(pool.lease(5000, 100)); });
  }
}

TEST(AllocationFailures, do_not_let_the_others_wait_for_shared_memory) {
  mpi::Context context(test_comm());
  expect_one_end_on_all_ranks([&] { EXPECT_EQ(context.allocate_shared(5000).bytes().size(), 5000U); });
}

TEST(AllocationFailures, end_the_making_of_a_context_on_all_ranks) {
  expect_one_end_on_all_ranks([] { const mpi::Context context(test_comm()); });
}

TEST(AllocationFailures, end_the_choice_of_active_ranks_on_all_ranks) {
  mpi::Context context(test_comm());
  expect_one_end_on_all_ranks([&] { EXPECT_FALSE(mpi::ActiveRanks(context, 1).ranks().empty()); });
}

TEST(AllocationFailures, leave_the_same_tags_on_all_ranks) {
  mpi::Context context(test_comm());
  expect_one_end_on_all_ranks([&] { static_cast<void>(mpi::ActiveRanks(context, 2)); });
  const Index next = context.reserve_tags(1).first();
  EXPECT_EQ(next, mpi::all_reduce(context.comm(), next, mpi::Operation::maximum()));
}

TEST(AllocationFailures, end_exchanges_of_control_data_on_all_ranks) {
  const auto comm = mpi::Communicator::borrowed(test_comm());
  std::vector<int> backwards(static_cast<std::size_t>(ranks()));
  for (int r = 0; r < ranks(); ++r) backwards[static_cast<std::size_t>(r)] = ranks() - 1 - r;
  expect_one_end_on_all_ranks([&] { EXPECT_EQ(comm.permuted(backwards).rank(), ranks() - 1 - rank()); });
  expect_one_end_on_all_ranks([&] { EXPECT_EQ(mpi::all_gather(comm, rank()).back(), ranks() - 1); });

  // Rank r sends s + 1 elements to each rank s.
  std::vector<Index> counts(static_cast<std::size_t>(ranks()));
  std::iota(counts.begin(), counts.end(), 1);
  const std::vector<int> data(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Index{0})),
                              rank());
  expect_one_end_on_all_ranks([&] {
    const std::vector<int> came = mpi::all_to_all<int>(comm, data, counts);
    ASSERT_EQ(came.size(), static_cast<std::size_t>(ranks() * (rank() + 1)));
    for (std::size_t i = 0; i < came.size(); ++i) EXPECT_EQ(came[i], static_cast<int>(i) / (rank() + 1));
  });
}

}  // namespace
}  // namespace plait::test
