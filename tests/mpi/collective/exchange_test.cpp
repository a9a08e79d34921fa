#include "plait/collective/algorithm/exchange.hpp"

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/collective/block_cases.hpp"
#include "mpi/collective/rooted.hpp"

namespace plait::test {
namespace {

using collective::Blocks;
using collective::ExchangedBlocks;
using collective::ExchangeOrder;
using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;

struct Exchanges : ::testing::Test {
  mpi::Context context{test_comm()};
};

// How many words the i-th rank has for the j-th: one in three has none.
Index count(const StreamCase& c, std::uint64_t seed, int i, int j) {
  const auto bits = random_bits(seed, static_cast<std::uint64_t>(i * 100 + j));
  const auto most = static_cast<std::uint64_t>(2 * c.n) / c.ranks.size() + 1;
  return bits % 3 == 0 ? 0 : static_cast<Index>(bits / 3 % most);
}

TEST_F(Exchanges, bring_all_ranks_what_all_have_for_them) {
  std::uint64_t seed = 1000;
  for (StreamCase c : stream_cases(ranks())) {
    const ExchangeOrder order = c.in_place ? ExchangeOrder::pairwise : ExchangeOrder::spread;
    SCOPED_TRACE(testing::Message() << c << (c.in_place ? ", pairwise, seed " : ", spread, seed ") << ++seed);
    c.in_place = false;
    const Group group(context, c.ranks);
    std::vector<Index> row;
    std::vector<Index> column;
    Words in;
    Words expected;
    for (int peer = 0; group.contains_me() && peer < group.size(); ++peer) {
      const auto append = [&](Words& words, std::vector<Index>& counts, int i, int j) {
        counts.push_back(count(c, seed, i, j));
        for (Index k = 0; k < counts.back(); ++k) words.push_back(operand(seed, 100 * i + j, k));
      };
      append(in, row, group.me(), peer);
      append(expected, column, peer, group.me());
    }
    Words out(expected.size(), untouched);
    if (!group.contains_me()) row = column = std::vector<Index>(c.ranks.size(), 0);
    const Words sent = in;
    context.counters().clear();
    c.n = static_cast<Index>(in.size());
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group& members, const Stream&, Place from, Place to) {
          const ExchangedBlocks all = collective::all_to_all(graph, members, order,
                                                             {.sent = Blocks::cut(row, 8, c.strands, c.segment),
                                                              .received = Blocks::cut(column, 8, c.strands, c.segment)},
                                                             from, to);
          static_cast<void>(all.received.pieces().final(graph));
        },
        in, out, windows_of(random_bits(seed, 1)));
    ASSERT_EQ(out, expected);
    ASSERT_EQ(in, sent);
    ASSERT_EQ(exchanged(context, "streamed"), all_to_all_traffic(row, column, 8, c.strands, c.segment, group.me()));
  }
}

TEST_F(Exchanges, refuse_blocks_for_others_and_an_own_block_of_two_lengths) {
  const Group group = Group::all(context);
  Graph graph;
  const Place place{graph.output(64)};
  const auto refused = [&](const std::vector<Index>& row, const std::vector<Index>& column) {
    EXPECT_THROW(static_cast<void>(collective::all_to_all(
                     graph, group, ExchangeOrder::spread,
                     {.sent = Blocks::cut(row, 8, 1, 8), .received = Blocks::cut(column, 8, 1, 8)}, place, place)),
                 ArgumentError);
  };
  const std::vector<Index> one(static_cast<std::size_t>(ranks()), 1);
  std::vector<Index> more = one;
  more.push_back(1);
  refused(more, one);
  refused(one, more);
  more.pop_back();
  more[static_cast<std::size_t>(rank())] = 2;
  refused(one, more);
}

}  // namespace
}  // namespace plait::test
