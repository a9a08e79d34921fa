// What all builders with a root have in common: along a chain, along a tree, in scattered pieces.
#include "mpi/collective/rooted.hpp"

#include <string>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/rooted.hpp"

namespace plait::test {
namespace {

using collective::AllGatherWay;
using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;
using collective::TreeShape;
using schedule::Combine;

struct Way {
  const char* name;
  BroadcastBuilder broadcast;
  ReduceBuilder reduce;
};

Way by_chain() {
  return {"chain",
          {collective::broadcast_chain, broadcast_chain_traffic},
          {[](Graph& graph, const Group& group, int root, const Stream& stream, const collective::Reducing& how) {
             return collective::reduce_chain(graph, group, root, stream, how);
           },
           reduce_chain_traffic}};
}

Way by_tree() {
  return {"binomial_tree",
          {collective::broadcast_binomial, broadcast_binomial_traffic},
          {collective::reduce_binomial, [](Index bytes, int size, int root, int me, bool) {
             return reduce_binomial_traffic(bytes, size, root, me);
           }}};
}

// Each shape with each way to gather, by the root; a reduction and a broadcast of one root have different shapes.
Way in_pieces() {
  static constexpr auto shape_of = [](int root) { return root % 2 == 0 ? TreeShape::binomial : TreeShape::linear; };
  static constexpr auto way_of = [](int root) {
    return root / 2 % 2 == 0 ? AllGatherWay::ring : AllGatherWay::doubling;
  };
  return {"scattered_pieces",
          {[](Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
             return collective::broadcast_scatter_all_gather(graph, group, root, shape_of(root + 1), way_of(root),
                                                             stream, data);
           },
           [](Index bytes, int size, int root, int me) {
             return broadcast_scatter_all_gather_traffic(bytes / 8, 8, size, shape_of(root + 1), way_of(root), root,
                                                         me);
           }},
          {[](Graph& graph, const Group& group, int root, const Stream& stream, const collective::Reducing& how) {
             return collective::reduce_halving_gather(graph, group, root, shape_of(root), stream, how);
           },
           [](Index bytes, int size, int root, int me, bool commutes) {
             return reduce_halving_gather_traffic(bytes / 8, 8, size, shape_of(root), root, me, commutes);
           }}};
}

struct Rooted : ::testing::TestWithParam<Way> {
  mpi::Context context{test_comm()};
};

TEST_P(Rooted, broadcasts_bring_what_the_root_has) { expect_broadcasts(context, GetParam().broadcast); }

TEST_P(Rooted, reductions_are_in_order) { expect_reductions(context, GetParam().reduce); }

TEST_P(Rooted, reductions_may_be_broadcast_in_one_graph) {
  std::uint64_t seed = 2000;
  const Compose compose;
  const Combine in_order = Combine::elementwise<std::uint64_t>(compose);
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  for (const StreamCase& c : stream_cases(ranks())) {
    const bool commutes = ++seed % 2 == 0;
    SCOPED_TRACE(testing::Message() << c << ", commutes " << commutes);
    Words in = operands(seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size(), untouched);
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group& members, const Stream& stream, Place from, Place to) {
          const Stream reduced =
              GetParam().reduce.build(graph, members, c.root, stream, {from, to, commutes ? sum : in_order});
          static_cast<void>(GetParam().broadcast.build(graph, members, c.root, reduced, to));
        },
        in, out, seed % 3 == 0 ? schedule::Windows{1, 2, 1} : windows_of(seed / 2));
    if (Group(context, c.ranks).contains_me()) {
      ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n,
                              [&](std::uint64_t a, std::uint64_t b) { return commutes ? a + b : compose(a, b); }));
    }
  }
}

TEST_P(Rooted, have_a_root_within_the_group_and_elements_of_one_size) {
  const Group group = Group::all(context);
  Graph graph;
  const Place place{graph.output(64)};
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  const Combine floats(simd::ReduceOperation::sum, simd::Element::float32);
  const auto& [name, broadcast, reduce] = GetParam();
  for (const int root : {-1, ranks()}) {
    EXPECT_THROW(static_cast<void>(broadcast.build(graph, group, root, stream, place)), ArgumentError);
    EXPECT_THROW(static_cast<void>(reduce.build(graph, group, root, stream, {place, place, sum})), ArgumentError);
  }
  EXPECT_THROW(static_cast<void>(reduce.build(graph, group, 0, stream, {place, place, floats})), ArgumentError);
}

INSTANTIATE_TEST_SUITE_P(Builders, Rooted, ::testing::Values(by_chain(), by_tree(), in_pieces()),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace plait::test
