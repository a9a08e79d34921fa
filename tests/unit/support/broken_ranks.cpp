// Tests that go wrong in every way the test main promises to survive; report_broken_ranks.sh runs them one by one.
#include <mpi.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "support/ranks.hpp"
#include "support/watchdog.hpp"

namespace {

using plait::test::rank;
using plait::test::test_comm;

TEST(Broken, fails_on_rank_1) { EXPECT_NE(rank(), 1) << "first line\nsecond line"; }

TEST(Broken, throws_on_rank_1) {
  if (rank() == 1) throw std::runtime_error("thrown on one rank");
}

TEST(Broken, is_skipped_on_rank_1) {
  if (rank() == 1) GTEST_SKIP() << "not here";
}

TEST(Broken, waits_on_rank_0_for_what_never_comes) {
  const plait::test::Described state([] { return "rank " + std::to_string(rank()) + " is in the receive"; });
  int value = 0;
  if (rank() == 0) MPI_Recv(&value, 1, MPI_INT, 1, 0, test_comm(), MPI_STATUS_IGNORE);
}

TEST(Broken, crashes_on_rank_1) {
  if (rank() == 1) std::abort();
}

}  // namespace
