#include "support/ranks.hpp"

#include <mpi.h>

#include <string>

#include <gtest/gtest.h>

#include "support/watchdog.hpp"

namespace {

using plait::test::rank;
using plait::test::ranks;
using plait::test::test_comm;

TEST(Ranks, are_numbered_as_in_the_world) {
  int world_rank = -1;
  int world_size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  EXPECT_EQ(rank(), world_rank);
  EXPECT_EQ(ranks(), world_size);
}

TEST(Ranks, talk_over_a_communicator_of_their_own) {
  int comparison = MPI_IDENT;
  MPI_Comm_compare(test_comm(), MPI_COMM_WORLD, &comparison);
  EXPECT_EQ(comparison, MPI_CONGRUENT);

  int sum = rank() + 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, test_comm());
  EXPECT_EQ(sum, ranks() * (ranks() + 1) / 2);
}

TEST(Ranks, stop_a_description_with_its_object) {
  std::string state = "waiting";
  const plait::test::Described outer([&] { return state; });
  {
    const plait::test::Described inner([&] { return "inner: " + state; });
  }
  SUCCEED();
}

}  // namespace
