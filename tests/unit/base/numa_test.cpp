#include "plait/base/numa.hpp"

#include <sched.h>

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using plait::listed_numbers;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ListedNumbers, are_single_ones_and_ranges) {
  EXPECT_THAT(listed_numbers("0-3,8,10-11"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(listed_numbers("5"), ElementsAre(5));
  EXPECT_THAT(listed_numbers(""), IsEmpty());
  EXPECT_THAT(listed_numbers("none,7,-"), ElementsAre(7));
}

TEST(NumaDomains, are_known_to_threads_that_are_bound_to_a_core_if_to_any) {
  int bound = -2;
  int free = -2;
  std::thread([&] {
    free = plait::numa_domain();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) bound = plait::numa_domain();
  }).join();
  EXPECT_GE(free, -1);
  EXPECT_GE(bound, free) << "who knows it with many cores knows it with one";
}

}  // namespace
