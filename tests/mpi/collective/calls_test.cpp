#include "plait/collective/calls.hpp"

#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/collective/streamed.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using simd::ReduceOperation;

struct Calls : ::testing::Test {
  mpi::Context context{test_comm()};
  std::vector<int> everyone = [] {
    std::vector<int> all(static_cast<std::size_t>(ranks()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  const std::vector<Index> lengths{0, 1, 5, 1000, 40'000};

  [[nodiscard]] Words sums(std::uint64_t seed, Index begin, Index end) const {
    return combined(seed, everyone, begin, end, std::plus<>());
  }
  // Blocks of very different lengths, some empty.
  [[nodiscard]] static std::vector<Index> counts(Index n) {
    std::vector<Index> all;
    for (int rank = 0; rank < ranks(); ++rank) all.push_back(rank % 3 == 1 ? 0 : n / (rank + 1));
    return all;
  }
  [[nodiscard]] static Index before(const std::vector<Index>& counts, int rank) {
    return std::accumulate(counts.begin(), counts.begin() + rank, Index{0});
  }
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
};

TEST_F(Calls, broadcast_reduce_and_allreduce_vectors_of_all_lengths) {
  std::uint64_t seed = 8000;
  for (const Index n : lengths) {
    for (int root = 0; root < ranks(); root += 2) {
      Words data = operands(++seed, rank(), n);
      collective::broadcast(context, std::span(data), root);
      ASSERT_EQ(data, operands(seed, root, n));

      data = operands(++seed, rank(), n);
      collective::reduce(context, std::span(data), root, ReduceOperation::sum);
      ASSERT_EQ(data, rank() == root ? sums(seed, 0, n) : operands(seed, rank(), n));
    }
    Words data = operands(++seed, rank(), n);
    collective::allreduce(context, std::span(data), ReduceOperation::sum);
    ASSERT_EQ(data, sums(seed, 0, n));
  }
}

TEST_F(Calls, reduce_scatter_then_all_gather) {
  std::uint64_t seed = 9000;
  for (const Index n : lengths) {
    const std::vector<Index> blocks = counts(n);
    const Index all = before(blocks, ranks());
    const Index begin = before(blocks, rank());
    const Index own = blocks[at(rank())];
    const Words in = operands(++seed, rank(), all);
    Words out(at(own + 1), untouched);
    collective::reduce_scatter(context, std::span(in), std::span(out), blocks, ReduceOperation::sum);
    Words expected = sums(seed, begin, begin + own);
    expected.push_back(untouched);
    ASSERT_EQ(out, expected);

    Words gathered(at(all), untouched);
    collective::all_gather(context, std::span<const std::uint64_t>(out).first(at(own)), std::span(gathered), blocks);
    ASSERT_EQ(gathered, sums(seed, 0, all));

    Words in_place(at(all), untouched);
    std::copy_n(out.begin(), own, in_place.begin() + begin);
    collective::all_gather(context, std::span<const std::uint64_t>(in_place).subspan(at(begin), at(own)),
                           std::span(in_place), blocks);
    ASSERT_EQ(in_place, gathered);
  }
}

TEST_F(Calls, exchange_blocks_among_all) {
  // From i to j travel (i + 2 j) % 5 times `unit` elements.
  std::uint64_t seed = 10'000;
  for (const Index unit : {0, 1, 777}) {
    ++seed;
    std::vector<Index> send_counts, receive_counts;
    for (int peer = 0; peer < ranks(); ++peer) {
      send_counts.push_back((rank() + 2 * peer) % 5 * unit);
      receive_counts.push_back((peer + 2 * rank()) % 5 * unit);
    }
    const Words in = operands(seed, rank(), before(send_counts, ranks()));
    Words out(at(before(receive_counts, ranks())), untouched);
    collective::all_to_all(context, std::span(in), send_counts, std::span(out), receive_counts);
    Words expected;
    for (int peer = 0; peer < ranks(); ++peer) {
      Index begin = 0;
      for (int other = 0; other < rank(); ++other) begin += (peer + 2 * other) % 5 * unit;
      for (Index i = 0; i < receive_counts[at(peer)]; ++i) expected.push_back(operand(seed, peer, begin + i));
    }
    ASSERT_EQ(out, expected);
  }
}

TEST_F(Calls, may_be_under_way_together) {
  Words first = operands(1, rank(), 3000);
  std::vector<float> other(500, 1.5F);
  auto one = collective::iallreduce(context, std::span(first), ReduceOperation::sum);
  auto two = collective::iallreduce(context, std::span(other), ReduceOperation::sum);
  while (!two.progress()) {
  }
  two.wait();
  one.wait();
  EXPECT_EQ(first, sums(1, 0, 3000));
  EXPECT_EQ(other, std::vector<float>(500, 1.5F * static_cast<float>(ranks())));
}

TEST_F(Calls, refuse_counts_and_roots_that_can_not_be) {
  Words data(10);
  const std::span<std::uint64_t> words(data);
  const std::span<const std::uint64_t> in(data);
  EXPECT_THROW(collective::broadcast(context, words, -1), ArgumentError);
  EXPECT_THROW(collective::reduce(context, words, ranks(), ReduceOperation::sum), ArgumentError);
  const std::vector<Index> too_few(static_cast<std::size_t>(ranks() - 1), 1);
  const std::vector<Index> negative(static_cast<std::size_t>(ranks()), -1);
  const std::vector<Index> too_many(static_cast<std::size_t>(ranks()), 11);
  const std::vector<Index> not_countable(static_cast<std::size_t>(ranks()), Index{1} << 62);
  for (const std::vector<Index>& wrong : {too_few, negative, too_many, not_countable}) {
    EXPECT_THROW(collective::reduce_scatter(context, in, words, wrong, ReduceOperation::sum), ArgumentError);
    EXPECT_THROW(collective::all_gather(context, in, words, wrong), ArgumentError);
    EXPECT_THROW(collective::all_to_all(context, in, wrong, words, wrong), ArgumentError);
  }
  EXPECT_THROW(collective::allreduce(context, std::span(std::vector<double>(3).data(), 3), ReduceOperation::band),
               ArgumentError);
}

}  // namespace
}  // namespace plait::test
