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
using schedule::Combine;

struct ReduceScatters : ::testing::Test {
  struct Kind {
    Blocks (*build)(Graph&, const Group&, Blocks, const collective::Reducing&);
    Exchanged (*traffic)(std::span<const Index>, int, bool commutes);
  };
  static constexpr Kind kinds[] = {{collective::reduce_scatter_ring, reduce_scatter_ring_traffic},
                                   {collective::reduce_scatter_halving, reduce_scatter_halving_traffic}};

  mpi::Context context{test_comm()};
  Compose compose;
  const Combine operations[2] = {Combine::elementwise<std::uint64_t>(compose),
                                 {simd::ReduceOperation::sum, simd::Element::uint64}};

  Words result(const Combine& combine, std::uint64_t seed, const StreamCase& c, Index begin, Index end) const {
    return combined(seed, c.ranks, begin, end,
                    [&](std::uint64_t a, std::uint64_t b) { return combine.commutes() ? a + b : compose(a, b); });
  }
};

TEST_F(ReduceScatters, leave_each_rank_its_pieces_of_each_segment) {
  std::uint64_t seed = 5000;
  for (const StreamCase& c : rootless_cases(ranks())) {
    const Kind& kind = kinds[++seed % 2];
    const Combine& combine = operations[seed / 2 % 2];
    SCOPED_TRACE(testing::Message() << c << ", kind " << seed % 2 << ", commutes " << combine.commutes());
    const Group group(context, c.ranks);
    Words in = operands(seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size(), untouched);
    Exchanged expected;
    if (group.contains_me()) {
      expected = for_each_segment(
          c, 8, [&](const auto& bytes) { return kind.traffic(bytes, group.me(), combine.commutes()); });
    }
    context.counters().clear();
    StreamedRun::run(context, c,
                     [&](Graph& graph, const Group& members, const Stream& stream, Place from, Place to) {
                       const Blocks all =
                           kind.build(graph, members, Blocks::split(stream, members.size()), {from, to, combine});
                       static_cast<void>(all.joined().final(graph));
                     },
                     in, out, {seed % 3 == 0 ? 1 : 16, seed % 5 == 0 ? 1 : 16, 1});
    EXPECT_EQ(exchanged(context, "streamed"), expected);
    const Words all = result(combine, seed, c, 0, c.n);
    const Blocks blocks = Blocks::split(Stream::cut(c.n, 8, c.strands, c.segment), group.size());
    Words wanted = c.in_place ? out : Words(in.size(), untouched);
    if (!group.contains_me()) wanted = c.in_place ? operands(seed, rank(), c.n) : wanted;
    for (const collective::Chunk& chunk : blocks.chunks()) {
      if (!group.contains_me()) break;
      const collective::Segment& piece = chunk[static_cast<std::size_t>(group.me())];
      std::copy(all.begin() + piece.begin, all.begin() + piece.end, wanted.begin() + piece.begin);
    }
    ASSERT_EQ(out, wanted);
  }
}

TEST_F(ReduceScatters, give_each_rank_its_block_at_the_beginning_or_in_place) {
  std::uint64_t seed = 6000;
  for (const StreamCase& c : rootless_cases(ranks())) {
    const Kind& kind = kinds[++seed % 2];
    const Combine& combine = operations[seed / 2 % 2];
    SCOPED_TRACE(testing::Message() << c << ", kind " << seed % 2 << ", commutes " << combine.commutes());
    const Group group(context, c.ranks);
    const std::vector<Index> counts = ragged_counts(c, seed);
    const std::vector<Index> begins = begins_of(counts);
    const bool is_whole = seed % 8 >= 4;
    const Blocks blocks =
        is_whole ? Blocks::cut(counts, 8, 1, c.n + 1000) : Blocks::cut(counts, 8, c.strands, c.segment);
    const auto own = static_cast<std::size_t>(std::max(group.me(), 0));
    Words in = operands(seed, rank(), begins.back());
    Words out = c.in_place ? in : Words(static_cast<std::size_t>(counts[own]), untouched);
    context.counters().clear();
    StreamedRun::run(context, c,
                     [&](Graph& graph, const Group& members, const Stream&, Place from, Place to) {
                       const Place target = c.in_place ? to : collective::at_beginning(members, blocks, to);
                       static_cast<void>(kind.build(graph, members, blocks, {from, target, combine}));
                     },
                     in, out, {seed % 3 == 0 ? 1 : 16, seed % 5 == 0 ? 1 : 16, 1});
    if (group.contains_me()) {
      if (is_whole) {
        EXPECT_EQ(exchanged(context, "streamed"), kind.traffic(bytes_of(counts, 8), group.me(), combine.commutes()));
      }
      const auto found = out.begin() + (c.in_place ? begins[own] : 0);
      ASSERT_EQ(Words(found, found + counts[own]), result(combine, seed, c, begins[own], begins[own + 1]));
    } else {
      ASSERT_EQ(out, c.in_place ? operands(seed, rank(), begins.back()) : Words(out.size(), untouched));
    }
  }
}

TEST_F(ReduceScatters, refuse_blocks_for_others_than_the_ranks_and_elements_of_another_size) {
  Graph graph;
  const collective::SlotId slot = graph.output(64);
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const Combine floats(simd::ReduceOperation::sum, simd::Element::float32);
  for (const Kind& kind : kinds) {
    const auto build = [&](int blocks, const Combine& combine) {
      static_cast<void>(
          kind.build(graph, Group::all(context), Blocks::split(stream, blocks), {{slot}, {slot}, combine}));
    };
    EXPECT_THROW(build(ranks() + 1, operations[1]), ArgumentError);
    EXPECT_THROW(build(ranks(), floats), ArgumentError);
  }
}

}  // namespace
}  // namespace plait::test
