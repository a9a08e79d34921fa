#include "plait/mpi/node/shared_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"

#include "support/ranks.hpp"

namespace {

using plait::Index;
using plait::mpi::Context;
using plait::mpi::SharedMemory;
using plait::mpi::SharedPool;
using plait::test::test_comm;

struct SharedMemories : ::testing::Test {
  Context context{test_comm()};

  static Index bytes_of(int rank) { return 100 + 1000 * Index{rank}; }
};

TEST_F(SharedMemories, are_read_by_neighbours_where_their_owner_finds_them) {
  const SharedMemory first = context.allocate_shared(64);
  const SharedMemory memory = context.allocate_shared(bytes_of(context.rank()));
  ASSERT_TRUE(memory.is_shared());
  ASSERT_EQ(static_cast<Index>(memory.bytes().size()), bytes_of(context.rank()));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 64, 0U);
  std::ranges::fill(memory.bytes(), static_cast<std::byte>(context.rank() + 1));
  plait::mpi::barrier(context.comm());

  const auto place = context.find_shared(memory.bytes().subspan(10, 30));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->offset, 10);
  for (int rank = 0; rank < context.size(); ++rank) {
    EXPECT_EQ(context.shared_address(rank, *place)[0], static_cast<std::byte>(rank + 1)) << "of rank " << rank;
  }
  plait::mpi::barrier(context.comm());
}

TEST_F(SharedMemories, are_found_only_where_all_bytes_lie_in_one) {
  const SharedMemory memory = context.allocate_shared(256);
  std::vector<std::byte> elsewhere(256);
  EXPECT_TRUE(context.find_shared(memory.bytes()));
  EXPECT_FALSE(context.find_shared(elsewhere));
  EXPECT_FALSE(context.find_shared({memory.bytes().data() + 200, 100}));
}

TEST_F(SharedMemories, have_the_same_numbers_on_all_ranks_after_some_are_gone) {
  SharedMemory first = context.allocate_shared(64);
  const SharedMemory second = context.allocate_shared(64);
  first = {};
  for (int round = 0; round < 20; ++round) {
    const SharedMemory passing = context.allocate_shared(64 * (round + 1));
    const auto place = context.find_shared(passing.bytes());
    ASSERT_TRUE(place);
    EXPECT_EQ(place->memory, round + 2);
  }
  EXPECT_TRUE(context.find_shared(second.bytes()));
}

TEST_F(SharedMemories, may_be_empty) {
  const SharedMemory memory = context.allocate_shared(0);
  EXPECT_TRUE(memory.bytes().empty());
}

TEST_F(SharedMemories, are_ordinary_where_the_node_has_too_little) {
  if (context.size() == 1) return;           // as much as all shared memory may be more than one rank can have
  constexpr Index margin = Index{64} << 20;  // more than other programs are likely to give back meanwhile
  const Index share = plait::mpi::free_shared_memory() / context.size() + margin;
  const SharedMemory memory = context.allocate_shared(share);
  EXPECT_FALSE(memory.is_shared());
  EXPECT_EQ(static_cast<Index>(memory.bytes().size()), share);
  EXPECT_FALSE(context.find_shared(memory.bytes()));
  memory.bytes()[0] = std::byte{1};
}

TEST_F(SharedMemories, fail_on_all_ranks_where_one_can_not_have_what_it_wants) {
  const Index wanted = context.rank() == context.size() - 1 ? Index{1} << 50 : 100;
  EXPECT_THROW(static_cast<void>(context.allocate_shared(wanted)), plait::OutOfMemory);
  const Index negative = context.rank() == context.size() - 1 ? -1 : 100;
  EXPECT_THROW(static_cast<void>(context.allocate_shared(negative)), plait::ArgumentError);
  EXPECT_TRUE(context.allocate_shared(100).is_shared());
}

struct SharedPools : SharedMemories {};

TEST_F(SharedPools, zero_what_they_are_asked_to_in_used_memory_too) {
  const plait::mpi::Communicator& node = context.topology().node();
  for (int round = 0; round < 4; ++round) {
    const SharedPool::Lease lease = context.shared_staging().lease(1000, 300);
    const auto own = lease.segment(node.rank());
    ASSERT_GE(own.size(), 1000U);
    EXPECT_EQ(std::count(own.begin(), own.begin() + 300, std::byte{0}), 300);
    std::ranges::fill(own, std::byte{7});
    plait::mpi::barrier(node);
    EXPECT_EQ(lease.segment((node.rank() + 1) % node.size())[0], std::byte{7});
    plait::mpi::barrier(node);
  }
}

TEST_F(SharedPools, give_several_leases_memory_of_their_own) {
  const plait::mpi::Communicator& node = context.topology().node();
  const SharedPool::Lease first = context.shared_staging().lease(100, 100);
  SharedPool::Lease second = context.shared_staging().lease(200000, 0);
  const SharedPool::Lease moved = std::move(second);
  std::ranges::fill(moved.segment(node.rank()), std::byte{9});
  EXPECT_EQ(first.segment(node.rank())[0], std::byte{0});
}

// As of a cache of plans, whose leases come and go in turn: a long one now and then must not make all segments long.
TEST_F(SharedPools, keep_the_lengths_of_segments_where_there_is_plenty) {
  constexpr Index is_short = 1000;
  constexpr Index is_long = Index{512} << 10;
  SharedPool pool(context.topology().node(), 2 * is_long);
  std::deque<SharedPool::Lease> latest;
  Index most = 0;
  for (int call = 0; call < 60; ++call) {
    if (latest.size() == 6) latest.pop_front();
    latest.push_back(pool.lease(call % 7 == 0 ? is_long : is_short, 0));
    most = std::max(most, pool.held_bytes());
  }
  EXPECT_GE(most, 2 * is_long);
  EXPECT_LE(most, 4 * is_long);
}

TEST_F(SharedPools, lend_long_segments_to_short_leases_before) {
  std::set<const std::byte*> places;
  for (const Index bytes : {480000, 1000, 480000, 60000}) {
    const SharedPool::Lease lease = context.shared_staging().lease(bytes, 0);
    places.insert(lease.segment(context.topology().node().rank()).data());
  }
  EXPECT_EQ(places.size(), 1U);
}

}  // namespace
