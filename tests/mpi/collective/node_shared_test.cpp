// Operands and results that lie in shared memory, on all ranks or on some.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/collective/operands.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::NodeReducer;
using schedule::Combine;

constexpr Index longest = 20000;  // words

// A rank's place for words: in memory that it shares or in its own.
struct Place {
  mpi::SharedMemory shared;
  Words own = Words(longest);
  [[nodiscard]] std::uint64_t* words(bool in_shared) {
    return in_shared ? reinterpret_cast<std::uint64_t*>(shared.bytes().data()) : own.data();
  }
};

struct SharedOperands : ::testing::Test {
  mpi::Context context{test_comm()};
  NodeReducer reducer{context};
  Mix mix;
  Combine mixing = Combine::elementwise<std::uint64_t>(mix);
  mpi::SharedMemory before = context.allocate_shared(1000);
  Place in{context.allocate_shared(longest * 8)};
  Place out{context.allocate_shared(longest * 8)};

  // Where a rank's memory is shared, bits of `who` by rank.
  void check(std::uint64_t seed, Index n, unsigned who_in, unsigned who_out) {
    const auto bit = static_cast<unsigned>(rank() % 3);
    std::uint64_t* from = in.words((who_in >> bit & 1U) != 0);
    std::uint64_t* to = out.words((who_out >> bit & 1U) != 0);
    const Words own = operands(seed, rank(), n);
    const Words all = mixed(seed, ranks(), 0, n);

    std::ranges::copy(own, from);
    reducer.allreduce(from, to, n, mixing);
    ASSERT_TRUE(std::ranges::equal(own, std::span(from, own.size()))) << "the operand is as it was";
    ASSERT_TRUE(std::ranges::equal(all, std::span(to, own.size()))) << "allreduce";

    // Nobody waits for anybody but the calls themselves, so memory may be written at once.
    std::fill_n(from, n, 0);
    std::ranges::copy(own, to);
    reducer.allreduce(to, to, n, mixing);
    ASSERT_TRUE(std::ranges::equal(all, std::span(to, own.size()))) << "allreduce in place";

    const int root = static_cast<int>(seed) % ranks();
    std::ranges::copy(own, from);
    std::fill_n(to, n, 7);
    reducer.reduce(from, to, n, root, mixing);
    const Words untouched(own.size(), 7);
    ASSERT_TRUE(std::ranges::equal(rank() == root ? all : untouched, std::span(to, own.size()))) << "reduce";

    std::vector<Index> counts(static_cast<std::size_t>(ranks()), n / ranks());
    counts.front() /= 2;
    counts.back() += n - std::accumulate(counts.begin(), counts.end(), Index{0});
    const auto first = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.begin() + rank(), Index{0}));
    const auto share = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank())]);
    std::ranges::copy(own, from);
    reducer.reduce_scatter(from, to, counts, mixing);
    ASSERT_TRUE(std::ranges::equal(std::span(all).subspan(first, share), std::span(to, share))) << "scatter";
    reducer.reduce_scatter(from, from, counts, mixing);
    ASSERT_TRUE(std::ranges::equal(std::span(all).subspan(first, share), std::span(from, share))) << "scatter in place";
  }
};

TEST_F(SharedOperands, are_reduced_whoever_shares_them) {
  ASSERT_TRUE(in.shared.is_shared());
  std::uint64_t seed = 0;
  for (const Index n : {1, 40, 1500, 3000, 19999}) {
    for (const unsigned who_in : {0U, 7U, 1U, 6U}) {
      for (const unsigned who_out : {0U, 7U, 2U, 5U}) {
        SCOPED_TRACE(testing::Message() << n << " words, operands shared " << who_in << ", results " << who_out);
        check(++seed, n, who_in, who_out);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(SharedOperands, are_left_alone_beyond_their_end) {
  std::uint64_t* words = out.words(true);
  for (const Index n : {10, 5000}) {
    std::fill_n(words, longest, 7);
    const Words own = operands(1, rank(), n);
    std::ranges::copy(own, words + 1);
    reducer.allreduce(words + 1, words + 1, n, mixing);
    const Words expected = mixed(1, ranks(), 0, n);
    EXPECT_TRUE(std::ranges::equal(expected, std::span(words + 1, own.size())));
    EXPECT_EQ(words[0], 7U);
    EXPECT_EQ(words[n + 1], 7U);
  }
}

TEST_F(SharedOperands, may_be_of_a_memory_that_is_let_go_and_made_anew) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const mpi::SharedMemory memory = context.allocate_shared(8 * 3000);
    auto* words = reinterpret_cast<std::uint64_t*>(memory.bytes().data());
    std::ranges::copy(operands(seed, rank(), 3000), words);
    reducer.allreduce(words, words, 3000, mixing);
    EXPECT_TRUE(std::ranges::equal(mixed(seed, ranks(), 0, 3000), std::span(words, 3000)));
  }
}

TEST_F(SharedOperands, of_a_memory_that_a_rank_let_go_too_early_fail_on_all) {
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  const std::pair<Index, Combine> calls[] = {{1200, mixing}, {longest, mixing}, {longest, sum}};
  for (const auto& [n, combine] : calls) {
    mpi::SharedMemory memory = context.allocate_shared(8 * n);
    if (rank() == 0) memory = {};
    auto* const words = reinterpret_cast<std::uint64_t*>(memory.bytes().data());
    Words own = operands(1, rank(), n);
    std::uint64_t* const data = rank() == 0 ? own.data() : words;
    std::ranges::copy(own, data);
    if (rank() > 0) {
      EXPECT_THROW(reducer.allreduce(data, data, n, combine), PeerFailed);
    } else if (ranks() > 1) {
      EXPECT_THROW(reducer.allreduce(data, data, n, combine), ArgumentError);
    }
    std::ranges::copy(operands(2, rank(), n), own.begin());
    reducer.allreduce(own.data(), own.data(), n, mixing);
    EXPECT_TRUE(std::ranges::equal(mixed(2, ranks(), 0, n), own)) << "the next one";
  }
}

}  // namespace
}  // namespace plait::test
