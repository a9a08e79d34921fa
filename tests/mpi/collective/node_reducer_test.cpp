#include <complex>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/collective/operands.hpp"
#include "mpi/mpi/pretended_nodes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::NodeReducer;
using schedule::Combine;
using simd::Element;
using simd::ReduceOperation;

constexpr std::uint64_t sentinel = 0x5e47135e47135e47U;

struct NodeReducers : ::testing::Test {
  mpi::Context context{test_comm()};
  NodeReducer reducer{context};
  Mix mix;
  Combine mixing = Combine::elementwise<std::uint64_t>(mix);
};

// Around where one way gives over to the next, and where slices and pieces end.
std::vector<Index> lengths() {
  std::vector<Index> all{0, 1, 2, 3, 7, 8, 9, 63, 65};
  for (const Index near : {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 24576, 65536}) {
    for (const Index n : {near - 3, near - 1, near, near + 1, near + 5}) all.push_back(n);
  }
  return all;
}

TEST_F(NodeReducers, share_memory_where_there_is_somebody_to_share_it_with) {
  EXPECT_EQ(reducer.ranks(), ranks());
  EXPECT_EQ(reducer.rank(), rank());
  EXPECT_EQ(reducer.shares_memory(), ranks() > 1);
}

TEST(NodeReducersOnNodes, reduce_each_by_itself_though_one_has_a_single_rank) {
  const PretendedNodes nodes({ranks() - 1, 1});
  mpi::Context context(test_comm());
  NodeReducer reducer(context);
  const bool is_alone = rank() == ranks() - 1;
  EXPECT_EQ(reducer.allreduce(1, ReduceOperation::sum), is_alone ? 1 : ranks() - 1);
}

TEST_F(NodeReducers, give_all_ranks_the_result_in_the_order_of_ranks) {
  std::uint64_t seed = 0;
  for (const Index n : lengths()) {
    SCOPED_TRACE(n);
    const Words in = operands(++seed, rank(), n);
    Words out(in.size() + 1, sentinel);
    reducer.allreduce(in.data(), out.data(), n, mixing);
    Words expected = mixed(seed, ranks(), 0, n);
    expected.push_back(sentinel);
    ASSERT_EQ(out, expected);
    ASSERT_EQ(in, operands(seed, rank(), n));

    Words in_place = in;
    reducer.allreduce(in_place.data(), in_place.data(), n, mixing);
    expected.pop_back();
    ASSERT_EQ(in_place, expected);
  }
}

TEST_F(NodeReducers, give_the_root_the_result_and_leave_the_others_alone) {
  std::uint64_t seed = 100;
  for (const Index n : lengths()) {
    SCOPED_TRACE(n);
    const int root = static_cast<int>(++seed) % ranks();
    Words in = operands(seed, rank(), n);
    Words out(in.size() + 1, sentinel);
    reducer.reduce(in.data(), rank() == root ? out.data() : nullptr, n, root, mixing);
    Words expected = rank() == root ? mixed(seed, ranks(), 0, n) : Words(in.size(), sentinel);
    expected.push_back(sentinel);
    ASSERT_EQ(out, expected);
    ASSERT_EQ(in, operands(seed, rank(), n));

    reducer.reduce(in.data(), in.data(), n, root, mixing);
    ASSERT_EQ(in, rank() == root ? mixed(seed, ranks(), 0, n) : operands(seed, rank(), n));
  }
}

TEST_F(NodeReducers, give_each_rank_what_those_up_to_it_have) {
  std::uint64_t seed = 600;
  for (const Index n : lengths()) {
    SCOPED_TRACE(n);
    const Words in = operands(++seed, rank(), n);
    for (const bool is_in_place : {false, true}) {
      Words out = is_in_place ? in : Words(in.size(), sentinel);
      const auto* const from = is_in_place ? out.data() : in.data();
      out.push_back(sentinel);
      const Words all_before = mixed(seed, std::max(rank(), 1), 0, n);
      Words expected = rank() == 0 ? Words(out.begin(), out.end() - 1) : all_before;
      expected.push_back(sentinel);
      reducer.exscan(is_in_place ? out.data() : from, out.data(), n, mixing);
      ASSERT_EQ(out, expected);

      std::ranges::copy(in, out.begin());
      expected = mixed(seed, rank() + 1, 0, n);
      expected.push_back(sentinel);
      reducer.scan(is_in_place ? out.data() : from, out.data(), n, mixing);
      ASSERT_EQ(out, expected);
    }
  }
}

TEST_F(NodeReducers, scatter_equal_blocks) {
  std::uint64_t seed = 200;
  for (const Index n : lengths()) {
    SCOPED_TRACE(n);
    Words in = operands(++seed, rank(), n * ranks());
    Words out(static_cast<std::size_t>(n + 1), sentinel);
    reducer.reduce_scatter_block(in.data(), out.data(), n, mixing);
    Words expected = mixed(seed, ranks(), rank() * n, (rank() + 1) * n);
    in.resize(static_cast<std::size_t>(n * ranks()));
    expected.push_back(sentinel);
    ASSERT_EQ(out, expected);

    reducer.reduce_scatter_block(in.data(), in.data(), n, mixing);
    in.resize(static_cast<std::size_t>(n));
    expected.pop_back();
    ASSERT_EQ(in, expected);
  }
}

TEST_F(NodeReducers, scatter_by_counts) {
  // One rank gets all, in turn, and two of unlike shares, some none.
  for (std::uint64_t seed = 300; seed < 340; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<Index> counts(static_cast<std::size_t>(ranks()), 0);
    for (std::size_t r = 0; r < counts.size(); ++r) {
      const std::uint64_t bits = random_bits(seed, r);
      if (bits % 3 != 0) counts[r] = static_cast<Index>(bits >> 8U & 0xffffU) >> (bits >> 4U & 0xfU);
    }
    const auto begin = std::accumulate(counts.begin(), counts.begin() + rank(), Index{0});
    const Index own = counts[static_cast<std::size_t>(rank())];
    Words in = operands(seed, rank(), std::accumulate(counts.begin(), counts.end(), Index{0}));
    Words out(static_cast<std::size_t>(own + 1), sentinel);
    reducer.reduce_scatter(in.data(), out.data(), counts, mixing);
    Words expected = mixed(seed, ranks(), begin, begin + own);
    expected.push_back(sentinel);
    ASSERT_EQ(out, expected);

    reducer.reduce_scatter(in.data(), in.data(), counts, mixing);
    in.resize(static_cast<std::size_t>(own));
    expected.pop_back();
    ASSERT_EQ(in, expected);
  }
}

TEST_F(NodeReducers, know_the_types_of_the_language) {
  EXPECT_EQ(reducer.allreduce(rank() + 1, ReduceOperation::sum), ranks() * (ranks() + 1) / 2);
  EXPECT_EQ(reducer.allreduce(0.5 * rank(), ReduceOperation::max), 0.5 * (ranks() - 1));
  EXPECT_EQ(reducer.allreduce(rank() == 0, ReduceOperation::lor), true);
  std::vector<std::complex<float>> values(1000, {1, static_cast<float>(rank())});
  reducer.allreduce(std::span(values), ReduceOperation::sum);
  EXPECT_THAT(values, testing::Each(std::complex<float>(static_cast<float>(ranks()),
                                                        static_cast<float>(ranks() * (ranks() - 1) / 2))));
  std::vector<int> largest(100, rank());
  reducer.allreduce(std::span(largest), [](int a, int b) { return a > b ? a : b; });
  EXPECT_THAT(largest, testing::Each(ranks() - 1));
}

// Kept in order by nothing but the calls.
TEST_F(NodeReducers, of_several_contexts_take_turns) {
  mpi::Context other_context(test_comm());
  NodeReducer other(other_context);
  NodeReducer third(context);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Index n = seed % 2 == 0 ? 100 : 5000;
    Words a = operands(seed, rank(), n);
    Words b = operands(seed + 1, rank(), n);
    Words c = operands(seed + 2, rank(), n);
    reducer.allreduce(a.data(), a.data(), n, mixing);
    other.allreduce(b.data(), b.data(), n, mixing);
    third.reduce(c.data(), c.data(), n, 0, mixing);
    ASSERT_EQ(a, mixed(seed, ranks(), 0, n));
    ASSERT_EQ(b, mixed(seed + 1, ranks(), 0, n));
    if (rank() == 0) {
      ASSERT_EQ(c, mixed(seed + 2, ranks(), 0, n));
    }
  }
}

TEST_F(NodeReducers, give_their_memory_to_the_next) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    NodeReducer next(context);
    Words a = operands(seed, rank(), 20000);
    next.allreduce(a.data(), a.data(), 3, mixing);
    next.allreduce(a.data() + 3, a.data() + 3, 19997, mixing);
    ASSERT_EQ(a, mixed(seed, ranks(), 0, 20000));
  }
}

TEST_F(NodeReducers, refuse_what_makes_no_sense) {
  std::vector<double> data(10, 1.0);
  const Combine sum(ReduceOperation::sum, Element::float64);
  EXPECT_THROW(reducer.allreduce(data.data(), data.data(), -1, sum), ArgumentError);
  EXPECT_THROW(reducer.reduce(data.data(), data.data(), 1, ranks(), sum), ArgumentError);
  EXPECT_THROW(reducer.reduce(data.data(), data.data(), 1, -1, sum), ArgumentError);
  const std::vector<Index> counts(static_cast<std::size_t>(ranks()) + 1, 1);
  EXPECT_THROW(reducer.reduce_scatter(data.data(), data.data(), counts, sum), ArgumentError);
  EXPECT_THROW(Combine(ReduceOperation::band, Element::float64), ArgumentError);
  struct Long {
    char bytes[NodeReducer::longest_element + 1];
  };
  const auto keep = [](const Long& a, const Long&) { return a; };
  EXPECT_THROW(reducer.allreduce(data.data(), data.data(), 1, Combine::elementwise<Long>(keep)), ArgumentError);
  reducer.allreduce(data.data(), data.data(), 10, sum);
  EXPECT_THAT(data, testing::Each(static_cast<double>(ranks())));
}

TEST_F(NodeReducers, combine_elements_of_any_size) {
  struct Odd {
    std::uint32_t words[3];
  };
  const auto add = [](Odd a, const Odd& b) noexcept {
    for (int i = 0; i < 3; ++i) a.words[i] += b.words[i];
    return a;
  };
  struct Longest {
    std::uint64_t words[NodeReducer::longest_element / 8];
  };
  const auto add_all = [](Longest a, const Longest& b) {
    for (std::size_t i = 0; i < std::size(a.words); ++i) a.words[i] += b.words[i];
    return a;
  };
  const auto own = static_cast<std::uint32_t>(rank() + 1);
  const auto sum = static_cast<std::uint32_t>(ranks() * (ranks() + 1) / 2);
  for (const std::size_t n : {std::size_t{3}, std::size_t{10007}}) {
    std::vector<Odd> odd(n, Odd{{own, 2 * own, 3 * own}});
    reducer.allreduce(std::span(odd), add);
    for (const Odd& element : odd) ASSERT_THAT(element.words, testing::ElementsAre(sum, 2 * sum, 3 * sum));
  }
  std::vector<Longest> longest(50);
  for (Longest& element : longest) std::fill(std::begin(element.words), std::end(element.words), own);
  reducer.allreduce(std::span(longest), add_all);
  for (const Longest& element : longest) ASSERT_THAT(element.words, testing::Each(std::uint64_t{sum}));
}

}  // namespace
}  // namespace plait::test
