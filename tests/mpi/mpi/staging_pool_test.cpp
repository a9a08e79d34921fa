#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "plait/mpi/staging.hpp"

namespace {

using plait::mpi::StagingPool;

TEST(StagingPool, lends_memory_again_that_was_given_back) {
  StagingPool pool;
  std::byte* memory = nullptr;
  {
    const StagingPool::Lease lease = pool.lease(1000);
    EXPECT_GE(lease.size(), 1000);
    memory = lease.data();
    EXPECT_EQ(pool.held_bytes(), 0);
  }
  EXPECT_GE(pool.held_bytes(), 1000);
  const StagingPool::Lease smaller = pool.lease(500);
  EXPECT_EQ(smaller.data(), memory);
  EXPECT_EQ(pool.held_bytes(), 0);
}

TEST(StagingPool, lends_the_smallest_memory_that_is_large_enough) {
  StagingPool pool;
  std::byte* of_2000 = nullptr;
  {
    const StagingPool::Lease first = pool.lease(4000);
    const StagingPool::Lease second = pool.lease(2000);
    const StagingPool::Lease third = pool.lease(1000);
    of_2000 = second.data();
  }
  EXPECT_EQ(pool.lease(1500).data(), of_2000);
}

TEST(StagingPool, replaces_memory_that_is_too_small) {
  StagingPool pool;
  {
    const StagingPool::Lease lease = pool.lease(1000);
  }
  {
    const StagingPool::Lease lease = pool.lease(5000);
  }
  EXPECT_GE(pool.held_bytes(), 5000);
  EXPECT_LT(pool.held_bytes(), 6000);
}

TEST(StagingPool, lends_different_memory_to_leases_at_one_time) {
  StagingPool pool;
  const StagingPool::Lease first = pool.lease(100);
  const StagingPool::Lease second = pool.lease(100);
  EXPECT_NE(first.data(), second.data());
}

TEST(StagingPool, gives_nothing_for_nothing) {
  StagingPool pool;
  const StagingPool::Lease lease = pool.lease(0);
  EXPECT_EQ(lease.size(), 0);
}

TEST(StagingPool, frees_what_is_not_lent_when_it_is_trimmed) {
  StagingPool pool;
  std::optional<StagingPool::Lease> kept(pool.lease(100));
  {
    const StagingPool::Lease lease = pool.lease(1000);
  }
  pool.trim();
  EXPECT_EQ(pool.held_bytes(), 0);
  kept.reset();
  EXPECT_GE(pool.held_bytes(), 100);
}

TEST(StagingPool, takes_a_moved_lease_back_once) {
  StagingPool pool;
  {
    StagingPool::Lease first = pool.lease(100);
    StagingPool::Lease second(std::move(first));
    StagingPool::Lease third;
    third = std::move(second);
    EXPECT_GE(third.size(), 100);
  }
  EXPECT_GE(pool.held_bytes(), 100);
  EXPECT_LT(pool.held_bytes(), 200);
}

}  // namespace
