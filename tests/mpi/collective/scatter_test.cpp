#include "plait/collective/scatter.hpp"

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/collective/block_cases.hpp"
#include "mpi/collective/rooted.hpp"

namespace plait::test {
namespace {

using collective::Blocks;
using collective::Chunk;
using collective::Exchanged;
using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Segment;
using collective::Stream;
using collective::TreeShape;

// How a case's vector is divided among the ranks.
struct Division {
  Blocks blocks;
  Index n;
  bool has_gaps;
};

Division division_of(const StreamCase& c, std::uint64_t seed) {
  const int size = static_cast<int>(c.ranks.size());
  if (seed % 3 == 0) return {Blocks::split(stream_of(c), size), c.n, false};
  const std::vector<Index> counts = ragged_counts(c, seed);
  const bool is_whole = seed % 3 == 1;
  return {is_whole ? Blocks::cut(counts, 8, 1, c.n + 1000) : Blocks::cut(counts, 8, c.strands, c.segment),
          begins_of(counts).back(), !is_whole};
}

// The vector of which each element is its owner's operand, as far as `wanted`, a block, says; -1: all of them.
Words owned(const Group& group, const Division& division, std::uint64_t seed, int wanted, Words words) {
  for (int block = 0; block < group.size(); ++block) {
    if (wanted >= 0 && block != wanted) continue;
    for (const Chunk& chunk : division.blocks.chunks()) {
      const Segment& piece = chunk[static_cast<std::size_t>(block)];
      for (Index i = piece.begin; i < piece.end; ++i)
        words[static_cast<std::size_t>(i)] = operand(seed, group.rank(block), i);
    }
  }
  return words;
}

// Where chunks have gaps, a piece each, as the linear tree sends them.
Exchanged expected_traffic(const Group& group, const Division& division, TreeShape shape, int root,
                           Exchanged (*formula)(std::span<const Index>, TreeShape, int, int)) {
  Exchanged all;
  for (const Chunk& chunk : division.blocks.chunks()) {
    std::vector<Index> bytes;
    for (const Segment& piece : chunk) bytes.push_back(piece.elements() * 8);
    if (group.contains_me()) all += formula(bytes, shape, root, group.me());
  }
  return all;
}

struct Scatters : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(Scatters, bring_each_rank_its_block) {
  std::uint64_t seed = 0;
  for (const StreamCase& c : stream_cases(ranks())) {
    const Group group(context, c.ranks);
    const Division division = division_of(c, ++seed);
    const TreeShape shape = random_bits(seed, 1) % 2 == 0 ? TreeShape::binomial : TreeShape::linear;
    SCOPED_TRACE(testing::Message() << c << ", seed " << seed << (shape == TreeShape::linear ? ", linear" : ""));
    const Words empty(static_cast<std::size_t>(division.n), untouched);
    const bool is_root = group.me() == c.root;
    Words in = is_root ? owned(group, division, seed, -1, empty) : empty;
    Words out = c.in_place ? in : empty;
    const Words expected = c.in_place && is_root ? in
                           : group.contains_me() ? owned(group, division, seed, group.me(), empty)
                                                 : empty;
    context.counters().clear();
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group& members, const Stream&, Place from, Place to) {
          const Blocks blocks = scatter(graph, members, c.root, shape, division.blocks, from, to);
          static_cast<void>(blocks.pieces().final(graph));
        },
        in, out, windows_of(random_bits(seed, 2)));
    ASSERT_EQ(out, expected);
    if (division.has_gaps && shape == TreeShape::binomial) continue;
    ASSERT_EQ(exchanged(context, "streamed"),
              expected_traffic(group, division, shape, c.root, collective::scatter_traffic));
  }
}

TEST_F(Scatters, run_backwards_to_gather) {
  std::uint64_t seed = 1000;
  for (const StreamCase& c : stream_cases(ranks())) {
    const Group group(context, c.ranks);
    const Division division = division_of(c, ++seed);
    const TreeShape shape = random_bits(seed, 1) % 2 == 0 ? TreeShape::binomial : TreeShape::linear;
    SCOPED_TRACE(testing::Message() << c << ", seed " << seed << (shape == TreeShape::linear ? ", linear" : ""));
    const Words empty(static_cast<std::size_t>(division.n), untouched);
    Words in = group.contains_me() ? owned(group, division, seed, group.me(), empty) : empty;
    Words out = c.in_place ? in : empty;
    const Words expected = group.me() == c.root ? owned(group, division, seed, -1, empty) : out;
    context.counters().clear();
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group& members, const Stream&, Place from, Place to) {
          const Blocks blocks = gather(graph, members, c.root, shape, division.blocks, from, to);
          static_cast<void>(blocks.pieces().final(graph));
        },
        in, out, windows_of(random_bits(seed, 2)));
    ASSERT_EQ(out, expected);
    if (division.has_gaps && shape == TreeShape::binomial) continue;
    ASSERT_EQ(exchanged(context, "streamed"),
              expected_traffic(group, division, shape, c.root, collective::gather_traffic));
  }
}

// One rank's block after the other goes home and on, while others are on their way.
TEST_F(Scatters, and_gathers_to_another_root_move_a_vector) {
  std::uint64_t seed = 2000;
  for (StreamCase c : stream_cases(ranks())) {
    c.in_place = true;
    const Group group(context, c.ranks);
    const Division division = division_of(c, ++seed);
    SCOPED_TRACE(testing::Message() << c << ", seed " << seed);
    const int last = (c.root + 1) % group.size();
    const Words empty(static_cast<std::size_t>(division.n), untouched);
    Words data = group.me() == c.root ? owned(group, division, seed, -1, empty) : empty;
    Words none;
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group& members, const Stream&, Place, Place to) {
          const TreeShape shape = seed % 2 == 0 ? TreeShape::binomial : TreeShape::linear;
          Blocks blocks = scatter(graph, members, c.root, shape, division.blocks, to, to);
          blocks = gather(graph, members, last, TreeShape::binomial, std::move(blocks), to, to);
        },
        none, data, windows_of(seed));
    if (group.me() == last) {
      ASSERT_EQ(data, owned(group, division, seed, -1, empty));
    }
  }
}

TEST_F(Scatters, refuse_a_root_outside_of_the_group_and_blocks_for_others) {
  const Group group = Group::all(context);
  Graph graph;
  const Place place{graph.output(64)};
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const auto refused = [&](int root, int parts) {
    EXPECT_THROW(
        static_cast<void>(scatter(graph, group, root, TreeShape::linear, Blocks::split(stream, parts), place, place)),
        ArgumentError);
    EXPECT_THROW(
        static_cast<void>(gather(graph, group, root, TreeShape::linear, Blocks::split(stream, parts), place, place)),
        ArgumentError);
  };
  refused(-1, ranks());
  refused(0, ranks() + 1);
}

}  // namespace
}  // namespace plait::test
