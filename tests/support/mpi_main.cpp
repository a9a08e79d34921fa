// The main of a test program that mpiexec runs on several ranks.
#include <mpi.h>

#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "support/rank_listener.hpp"
#include "support/test_world.hpp"
#include "support/watchdog.hpp"

namespace {

using plait::test::RankListener;
using plait::test::TestWorld;
using plait::test::Watchdog;

/// Which tests run, and in which order, as rank 0 has it: environments and clocks differ, and the seed of a shuffle is
/// taken from the clock.
void share_order_of_tests(MPI_Comm comm, int rank) {
  std::string filter = GTEST_FLAG_GET(filter);
  auto length = static_cast<int>(filter.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  filter.resize(static_cast<std::size_t>(length));
  MPI_Bcast(filter.data(), length, MPI_CHAR, 0, comm);
  GTEST_FLAG_SET(filter, filter);

  constexpr int seeds = 99999;  // GoogleTest takes 1 to 99999, 0 stands for the clock
  int order[] = {GTEST_FLAG_GET(shuffle) ? 1 : 0, GTEST_FLAG_GET(random_seed), GTEST_FLAG_GET(repeat)};
  if (rank == 0 && order[1] == 0) order[1] = static_cast<int>(std::random_device{}() % seeds) + 1;
  MPI_Bcast(order, 3, MPI_INT, 0, comm);
  GTEST_FLAG_SET(shuffle, order[0] != 0);
  GTEST_FLAG_SET(random_seed, order[1]);
  GTEST_FLAG_SET(repeat, order[2]);
}

/// The tests' verdict, the same on every rank.
int run_tests(const TestWorld& world, Watchdog& watchdog) {
  share_order_of_tests(world.verdicts(), world.rank());
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (world.rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
  }
  // The last listener is the first to learn of a test's end, so that the others see the verdict that it agrees on.
  listeners.Append(std::make_unique<RankListener>(world, watchdog).release());  // owned by the list
  const bool only_list = GTEST_FLAG_GET(list_tests);
  int verdict = only_list && world.rank() != 0 ? 0 : RUN_ALL_TESTS();
  watchdog.watch("the end of the program");
  MPI_Allreduce(MPI_IN_PLACE, &verdict, 1, MPI_INT, MPI_MAX, world.verdicts());
  return verdict;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Outlives MPI_Finalize, which hangs if a test left a message behind.
  Watchdog watchdog(rank, Watchdog::limit_from_environment());
  int verdict = 0;
  {
    const TestWorld world;
    verdict = run_tests(world, watchdog);
  }
  MPI_Finalize();
  return verdict;
}
