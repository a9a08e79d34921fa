#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/rooted.hpp"

#include "mpi/collective/block_cases.hpp"
#include "mpi/collective/rooted.hpp"

namespace plait::test {
namespace {

using collective::Blocks;
using collective::Chunk;
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

// To all ranks from the root, or back.
struct Direction {
  const char* name;
  bool is_down;
  Blocks (*build)(Graph&, const Group&, int root, TreeShape, Blocks, Place in, Place out);
  Exchanged (*traffic)(std::span<const Index>, TreeShape, int root, int me);
};

struct Scatters : ::testing::Test {
  mpi::Context context{test_comm()};
};

struct Blockwise : ::testing::TestWithParam<Direction> {
  mpi::Context context{test_comm()};
};

TEST_P(Blockwise, each_ranks_block_moves_between_it_and_the_root) {
  const Direction& direction = GetParam();
  std::uint64_t seed = direction.is_down ? 0 : 1000;
  for (const StreamCase& c : stream_cases(ranks())) {
    const Group group(context, c.ranks);
    const Division division = division_of(c, ++seed);
    const TreeShape shape = random_bits(seed, 1) % 2 == 0 ? TreeShape::binomial : TreeShape::linear;
    SCOPED_TRACE(testing::Message() << c << ", seed " << seed << (shape == TreeShape::linear ? ", linear" : ""));
    const bool is_root = group.me() == c.root;
    const Words empty(static_cast<std::size_t>(division.n), untouched);
    const Words all = is_root ? owned(group, division, seed, -1, empty) : empty;
    const Words own = group.contains_me() ? owned(group, division, seed, group.me(), empty) : empty;
    Words in = direction.is_down ? all : own;
    Words out = c.in_place ? in : empty;
    const bool has_all = is_root && (c.in_place || !direction.is_down);
    const Words expected = has_all ? all : direction.is_down ? own : out;
    context.counters().clear();
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group& members, const Stream&, Place from, Place to) {
          const Blocks blocks = direction.build(graph, members, c.root, shape, division.blocks, from, to);
          static_cast<void>(blocks.pieces().final(graph));
        },
        in, out, windows_of(random_bits(seed, 2)));
    ASSERT_EQ(out, expected);
    // Where chunks have gaps, a piece is a message of its own, as the linear tree sends them.
    if (division.has_gaps && shape == TreeShape::binomial) continue;
    const auto formula = [&](const auto& bytes) { return direction.traffic(bytes, shape, c.root, group.me()); };
    ASSERT_EQ(exchanged(context, "streamed"),
              group.contains_me() ? for_each_chunk(division.blocks, formula) : Exchanged{});
  }
}

Blocks gather_all(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks, Place in, Place out) {
  return collective::gather(graph, group, root, shape, std::move(blocks), in, out);
}

INSTANTIATE_TEST_SUITE_P(Directions, Blockwise,
                         ::testing::Values(Direction{"scatter", true, collective::scatter, scatter_traffic},
                                           Direction{"gather", false, gather_all, gather_traffic}),
                         [](const auto& direction) { return std::string(direction.param.name); });

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
