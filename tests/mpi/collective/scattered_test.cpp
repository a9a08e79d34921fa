#include "plait/collective/scattered.hpp"

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/collective/rooted.hpp"

namespace plait::test {
namespace {

using collective::AllGatherWay;
using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;
using collective::TreeShape;
using schedule::Combine;

struct ScatteredPieces : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(ScatteredPieces, bring_what_the_root_has_to_all) {
  const auto shape_of = [](int root) { return root % 2 == 0 ? TreeShape::binomial : TreeShape::linear; };
  const auto way_of = [](int root) { return root / 2 % 2 == 0 ? AllGatherWay::ring : AllGatherWay::doubling; };
  expect_broadcasts(context, {[&](Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
                                static_cast<void>(collective::broadcast_scatter_all_gather(
                                    graph, group, root, shape_of(root), way_of(root), stream, data));
                              },
                              [&](Index bytes, int size, int root, int me) {
                                return collective::broadcast_scatter_all_gather_traffic(
                                    bytes / 8, 8, size, shape_of(root), way_of(root), root, me);
                              }});
}

TEST_F(ScatteredPieces, are_reduced_in_order_and_gathered_at_the_root) {
  const auto shape_of = [](int root) { return root % 2 == 0 ? TreeShape::binomial : TreeShape::linear; };
  expect_reductions(context, {[&](Graph& graph, const Group& group, int root, const Stream& stream, Place in, Place out,
                                  const Combine& combine) {
                                static_cast<void>(collective::reduce_halving_gather(graph, group, root, shape_of(root),
                                                                                    stream, in, out, combine));
                              },
                              [&](Index bytes, int size, int root, int me, bool commutes) {
                                return collective::reduce_halving_gather_traffic(bytes / 8, 8, size, shape_of(root),
                                                                                 root, me, commutes);
                              }});
}

TEST_F(ScatteredPieces, are_reduced_and_broadcast_in_one_graph) {
  std::uint64_t seed = 2000;
  const Compose compose;
  const Combine in_order = Combine::elementwise<std::uint64_t>(compose);
  for (const StreamCase& c : stream_cases(ranks())) {
    SCOPED_TRACE(testing::Message() << c);
    Words in = operands(++seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size(), untouched);
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group& members, const Stream& stream, Place from, Place to) {
          const Stream reduced = collective::reduce_halving_gather(graph, members, c.root, TreeShape::binomial, stream,
                                                                   from, to, in_order);
          static_cast<void>(collective::broadcast_scatter_all_gather(graph, members, c.root, TreeShape::linear,
                                                                     AllGatherWay::ring, reduced, to));
        },
        in, out, windows_of(seed));
    if (Group(context, c.ranks).contains_me()) {
      ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n, compose));
    }
  }
}

TEST_F(ScatteredPieces, have_a_root_within_the_group) {
  const Group group = Group::all(context);
  Graph graph;
  const Place place{graph.output(64)};
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  EXPECT_THROW(static_cast<void>(collective::broadcast_scatter_all_gather(graph, group, -1, TreeShape::linear,
                                                                          AllGatherWay::ring, stream, place)),
               ArgumentError);
  EXPECT_THROW(static_cast<void>(collective::reduce_halving_gather(graph, group, ranks(), TreeShape::linear, stream,
                                                                   place, place, sum)),
               ArgumentError);
}

}  // namespace
}  // namespace plait::test
