#include "bench/harness/measure.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"

#include "support/ranks.hpp"

namespace plait::bench {
namespace {

struct Measure : testing::Test {
  mpi::Communicator comm = mpi::Communicator::duplicate(test::test_comm());
};

void sleep_for_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

TEST_F(Measure, contenders_take_turns_and_operands_are_rewritten_before_each) {
  std::string calls;
  const std::vector<Contender> contenders{{"a", [&] { calls += 'a'; }}, {"b", [&] { calls += 'b'; }}};
  const auto samples = measure(comm, contenders, [&] { calls += '.'; }, Repetitions::exactly(3));
  EXPECT_EQ(calls, ".a.b.a.b.a.b");
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].size(), 3U);
  EXPECT_EQ(samples[1].size(), 3U);
}

TEST_F(Measure, the_slowest_rank_counts_on_all_of_them) {
  const int last = comm.size() - 1;
  const std::vector<Contender> contenders{{"a", [&] {
                                             if (comm.rank() == last) sleep_for_milliseconds(30);
                                           }}};
  const auto samples = measure(comm, contenders, [] {}, Repetitions::exactly(2));
  for (const double seconds : samples[0]) {
    EXPECT_GE(seconds, 0.03);
    EXPECT_EQ(seconds, mpi::all_reduce(comm, seconds, mpi::Operation::maximum()));
  }
}

TEST_F(Measure, rewriting_is_not_timed) {
  const std::vector<Contender> contenders{{"a", [] {}}};
  Stopwatch since_rewriting;
  const auto rewrite = [&] {
    sleep_for_milliseconds(300);
    since_rewriting.restart();
  };
  const auto samples = measure(comm, contenders, rewrite, Repetitions::exactly(1));
  // Holds on any machine: the one lies within the other.
  EXPECT_LE(samples[0][0], mpi::all_reduce(comm, since_rewriting.seconds(), mpi::Operation::maximum()));
}

TEST_F(Measure, a_known_time_stands_in_each_round_without_a_call) {
  int rewrites = 0;
  const std::vector<Contender> contenders{{"a", [] {}}, known_time("b", 0.25)};
  const auto samples = measure(comm, contenders, [&] { ++rewrites; }, Repetitions::exactly(3));
  EXPECT_EQ(samples[1], std::vector<double>(3, 0.25));
  EXPECT_EQ(rewrites, 3);
}

TEST_F(Measure, long_cases_get_the_least_and_short_ones_the_most_rounds) {
  const std::vector<Contender> slow{{"slow", [] { sleep_for_milliseconds(10); }}};
  EXPECT_EQ(measure(comm, slow, [] {}, {2, 50, 0.001})[0].size(), 2U);
  const std::vector<Contender> quick{{"quick", [] {}}};
  EXPECT_EQ(measure(comm, quick, [] {}, {2, 5, 1000})[0].size(), 5U);
}

}  // namespace
}  // namespace plait::bench
