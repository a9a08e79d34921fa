#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/to_all.hpp"

#include "mpi/collective/block_cases.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Blocks;
using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;

struct AllGathers : ::testing::Test {
  struct Kind {
    Blocks (*build)(Graph&, const Group&, Blocks, Place);
    Exchanged (*traffic)(std::span<const Index>, int);
  };
  static constexpr Kind kinds[] = {{collective::all_gather_ring, all_gather_ring_traffic},
                                   {collective::all_gather_doubling, all_gather_doubling_traffic}};

  mpi::Context context{test_comm()};

  // What all ranks' blocks make of a vector of `n` words; on ranks without a part nothing.
  Words gathered(const StreamCase& c, const Blocks& blocks, Index n, std::uint64_t seed, bool only_own) {
    const Group group(context, c.ranks);
    Words words(static_cast<std::size_t>(n), untouched);
    for (int block = 0; group.contains_me() && block < blocks.size(); ++block) {
      if (only_own && block != group.me()) continue;
      for (const collective::Chunk& chunk : blocks.chunks()) {
        const collective::Segment& piece = chunk[static_cast<std::size_t>(block)];
        for (Index i = piece.begin; i < piece.end; ++i)
          words[static_cast<std::size_t>(i)] = operand(seed, group.rank(block), i);
      }
    }
    return words;
  }

  // Runs the case in place with what `build` makes of its graph, and checks what was exchanged.
  void run(const StreamCase& c, const StreamedRun::Build& build, Words& data, const Exchanged& expected) {
    StreamCase in_place = c;
    in_place.in_place = true;
    Words none;
    context.counters().clear();
    StreamedRun::run(context, in_place, build, none, data, {c.in_place ? 1 : 16, c.in_place ? 2 : 16, 1});
    EXPECT_EQ(exchanged(context, "streamed"), expected);
  }
};

TEST_F(AllGathers, gather_the_pieces_of_each_segment) {
  std::uint64_t seed = 0;
  for (const StreamCase& c : rootless_cases(ranks())) {
    const Kind& kind = kinds[++seed % 2];
    SCOPED_TRACE(testing::Message() << c << ", kind " << seed % 2);
    const Group group(context, c.ranks);
    const Blocks blocks = Blocks::split(Stream::cut(c.n, 8, c.strands, c.segment), group.size());
    Words data = gathered(c, blocks, c.n, seed, true);
    Exchanged expected;
    if (group.contains_me())
      expected = for_each_segment(c, 8, [&](const auto& bytes) { return kind.traffic(bytes, group.me()); });
    run(
        c,
        [&](Graph& graph, const Group& members, const Stream& stream, Place, Place to) {
          const Blocks all = kind.build(graph, members, Blocks::split(stream, members.size()), to);
          static_cast<void>(all.joined().final(graph));
        },
        data, expected);
    ASSERT_EQ(data, gathered(c, blocks, c.n, seed, false));
  }
}

TEST_F(AllGathers, gather_a_block_of_each_rank) {
  std::uint64_t seed = 3000;
  for (const StreamCase& c : rootless_cases(ranks())) {
    const Kind& kind = kinds[++seed % 2];
    SCOPED_TRACE(testing::Message() << c << ", kind " << seed % 2);
    const Group group(context, c.ranks);
    const std::vector<Index> counts = ragged_counts(c, seed);
    const bool is_whole = seed % 4 >= 2;  // a block in one piece
    const Blocks blocks =
        is_whole ? Blocks::cut(counts, 8, 1, c.n + 1000) : Blocks::cut(counts, 8, c.strands, c.segment);
    const Index n = begins_of(counts).back();
    Words data = gathered(c, blocks, n, seed, true);
    Exchanged expected;
    if (group.contains_me() && is_whole) expected = kind.traffic(bytes_of(counts, 8), group.me());
    if (group.contains_me() && !is_whole) {
      expected = for_each_chunk(blocks, [&](const auto& bytes) { return all_gather_ring_traffic(bytes, group.me()); });
    }
    const Kind& used = is_whole ? kind : kinds[0];
    run(
        c,
        [&](Graph& graph, const Group& members, const Stream&, Place, Place to) {
          const Blocks all = used.build(graph, members, blocks, to);
          static_cast<void>(all.pieces().final(graph));
        },
        data, expected);
    ASSERT_EQ(data, gathered(c, blocks, n, seed, false));
  }
}

TEST_F(AllGathers, gather_blocks_that_lie_elsewhere_as_mpi_does) {
  std::vector<Index> counts;
  std::vector<int> int_counts;
  for (int r = 0; r < ranks(); ++r) {
    counts.push_back(r * r % 7 * 10);
    int_counts.push_back(static_cast<int>(counts.back()));
  }
  const std::vector<Index> begins = begins_of(counts);
  const std::vector<int> int_begins(begins.begin(), begins.end() - 1);
  Words own = operands(7, rank(), counts[static_cast<std::size_t>(rank())]);
  Words expected(static_cast<std::size_t>(begins.back()));
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_UINT64_T, expected.data(), int_counts.data(),
                 int_begins.data(), MPI_UINT64_T, context.comm().handle());
  for (const Kind& kind : kinds) {
    Words out(expected.size());
    std::vector<int> all(static_cast<std::size_t>(ranks()));
    std::iota(all.begin(), all.end(), 0);
    StreamedRun::run(
        context, {all, 0, 0, 2, 16, false},
        [&](Graph& graph, const Group& group, const Stream&, Place from, Place to) {
          const Blocks placed = copy_own_block(graph, group, Blocks::cut(counts, 8, 2, 16), from, to);
          static_cast<void>(kind.build(graph, group, placed, to));
        },
        own, out);
    EXPECT_EQ(out, expected);
  }
}

TEST_F(AllGathers, refuse_blocks_for_others_than_the_ranks) {
  Graph graph;
  const collective::SlotId slot = graph.output(64);
  const Blocks blocks = Blocks::split(Stream::cut(8, 8, 1, 8), ranks() + 1);
  for (const Kind& kind : kinds)
    EXPECT_THROW(static_cast<void>(kind.build(graph, Group::all(context), blocks, {slot})), ArgumentError);
  EXPECT_THROW(static_cast<void>(Blocks::cut({}, 8, 1, 8)), ArgumentError);
}

}  // namespace
}  // namespace plait::test
