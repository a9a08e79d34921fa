#include "plait/mpi/collectives.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/message.hpp"

#include "support/ranks.hpp"

namespace {

using plait::Index;
using plait::random_bits;
using plait::mpi::Communicator;
using plait::mpi::Operation;
using plait::test::test_comm;

struct Collectives : ::testing::Test {
  Communicator comm = Communicator::duplicate(test_comm());
  int rank = comm.rank();
  int ranks = comm.size();
};

struct Item {
  std::int64_t number;
  std::array<char, 5> text;
  friend bool operator==(const Item&, const Item&) = default;
};

Item item_of(int rank) { return {1000 + rank, {'r', 'a', 'n', 'k', static_cast<char>('0' + rank)}}; }

TEST_F(Collectives, broadcast_from_any_rank) {
  for (int root = 0; root < ranks; ++root) {
    std::vector<Item> items(100, item_of(rank));
    plait::mpi::broadcast(comm, std::span<Item>(items), root);
    EXPECT_EQ(items, std::vector<Item>(100, item_of(root)));
    plait::mpi::broadcast(comm, std::span<Item>(), root);
  }
}

TEST_F(Collectives, broadcast_what_takes_several_messages) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(plait::mpi::longest_message) / 8 + 100,
                                   static_cast<std::uint64_t>(rank));
  plait::mpi::broadcast(comm, std::span<std::uint64_t>(words), ranks - 1);
  EXPECT_EQ(words.front(), static_cast<std::uint64_t>(ranks - 1));
  EXPECT_EQ(words.back(), static_cast<std::uint64_t>(ranks - 1));
}

TEST_F(Collectives, gather_one_value_of_every_rank) {
  const std::vector<Item> all = plait::mpi::all_gather(comm, item_of(rank));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], item_of(r));
}

TEST_F(Collectives, reduce_values_spans_and_arrays) {
  EXPECT_EQ(plait::mpi::all_reduce(comm, rank + 1, Operation::sum()), ranks * (ranks + 1) / 2);
  std::vector<double> numbers{static_cast<double>(rank), -static_cast<double>(rank)};
  plait::mpi::all_reduce(comm, std::span<double>(numbers), Operation::maximum());
  EXPECT_EQ(numbers, (std::vector<double>{static_cast<double>(ranks - 1), 0}));
  std::array<Index, 2> indices{rank, 7};
  plait::mpi::all_reduce(comm, indices, Operation::minimum());
  EXPECT_EQ(indices, (std::array<Index, 2>{0, 7}));
  plait::mpi::all_reduce(comm, std::span<double>(), Operation::sum());
}

TEST_F(Collectives, reduce_what_takes_several_messages) {
  const std::size_t count = static_cast<std::size_t>(plait::mpi::longest_message) / 8 + 100;
  std::vector<std::int64_t> words(count);
  std::iota(words.begin(), words.end(), rank);
  plait::mpi::all_reduce(comm, std::span<std::int64_t>(words), Operation::sum());
  const auto expected = [&](std::size_t i) {
    return static_cast<std::int64_t>(i) * ranks + static_cast<std::int64_t>(ranks) * (ranks - 1) / 2;
  };
  for (const std::size_t i : {std::size_t{0}, count - 101, count - 100, count - 1}) EXPECT_EQ(words[i], expected(i));
}

TEST_F(Collectives, sum_over_the_ranks_below) {
  EXPECT_EQ(plait::mpi::sum_below(comm, Index{rank} + 1), Index{rank} * (rank + 1) / 2);
  EXPECT_EQ(plait::mpi::sum_below(comm, 0.25), 0.25 * rank);
}

TEST_F(Collectives, wait_for_all_at_a_barrier) {
  for (int round = 0; round < 100; ++round) plait::mpi::barrier(comm);
}

std::uint64_t element(std::uint64_t seed, int from, int to, Index i) {
  return random_bits(seed, (static_cast<std::uint64_t>(from) << 40) + (static_cast<std::uint64_t>(to) << 20) +
                               static_cast<std::uint64_t>(i));
}

Index count_of(std::uint64_t seed, int from, int to) {
  const std::uint64_t bits = random_bits(seed, 1000 + static_cast<std::uint64_t>(100 * from + to));
  return bits % 3 == 0 ? 0 : static_cast<Index>(bits / 3 % 2000);
}

TEST_F(Collectives, exchange_any_numbers_of_elements_between_all_ranks) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Index> counts;
    std::vector<std::uint64_t> data;
    for (int to = 0; to < ranks; ++to) {
      counts.push_back(count_of(seed, rank, to));
      for (Index i = 0; i < counts.back(); ++i) data.push_back(element(seed, rank, to, i));
    }
    std::vector<Index> expected_counts;
    std::vector<std::uint64_t> expected;
    for (int from = 0; from < ranks; ++from) {
      expected_counts.push_back(count_of(seed, from, rank));
      for (Index i = 0; i < expected_counts.back(); ++i) expected.push_back(element(seed, from, rank, i));
    }
    std::vector<Index> received_counts;
    const auto received = plait::mpi::all_to_all<std::uint64_t>(comm, data, counts, &received_counts);
    EXPECT_EQ(received, expected);
    EXPECT_EQ(received_counts, expected_counts);
  }
}

TEST_F(Collectives, exchange_nothing_at_all) {
  const std::vector<Index> counts(static_cast<std::size_t>(ranks), 0);
  EXPECT_TRUE(plait::mpi::all_to_all<Item>(comm, {}, counts).empty());
}

TEST_F(Collectives, of_different_kinds_follow_each_other_at_once) {
  for (int round = 0; round < 50; ++round) {
    const std::vector<Index> one(static_cast<std::size_t>(ranks), 1);
    const std::vector<int> data(static_cast<std::size_t>(ranks), 100 * round + rank);
    const auto received = plait::mpi::all_to_all<int>(comm, data, one);
    for (int r = 0; r < ranks; ++r) ASSERT_EQ(received[static_cast<std::size_t>(r)], 100 * round + r);
    ASSERT_EQ(plait::mpi::all_reduce(comm, round, Operation::maximum()), round);
    ASSERT_EQ(plait::mpi::all_gather(comm, rank + round).back(), ranks - 1 + round);
  }
}

#if PLAIT_ASSERT_LEVEL >= 1
TEST_F(Collectives, refuse_counts_that_do_not_add_up) {
  const std::vector<Index> too_many(static_cast<std::size_t>(ranks) + 1, 0);
  EXPECT_THROW((void)plait::mpi::all_to_all<int>(comm, {}, too_many), plait::ContractViolation);
}
#endif

}  // namespace
