#include "plait/collective/chain.hpp"

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/collective/rooted.hpp"

namespace plait::test {
namespace {

using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;
using schedule::Combine;

struct Chains : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(Chains, broadcast_what_the_root_has) {
  expect_broadcasts(context, {[](Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
                                static_cast<void>(collective::broadcast_chain(graph, group, root, stream, data));
                              },
                              collective::broadcast_chain_traffic});
}

TEST_F(Chains, reduce_in_order_to_the_root) {
  expect_reductions(context,
                    {[](Graph& graph, const Group& group, int root, const Stream& stream, Place in, Place out,
                        const Combine& combine) {
                       static_cast<void>(collective::reduce_chain(graph, group, root, stream, in, out, combine));
                     },
                     collective::reduce_chain_traffic});
}

TEST_F(Chains, reduce_then_broadcast_in_one_graph) {
  std::uint64_t seed = 2000;
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  for (const StreamCase& c : stream_cases(ranks())) {
    SCOPED_TRACE(testing::Message() << c);
    Words in = operands(++seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size(), untouched);
    StreamedRun::run(context, c,
                     [&](Graph& graph, const Group& members, const Stream& stream, Place from, Place to) {
                       const Stream reduced = collective::reduce_chain(graph, members, c.root, stream, from, to, sum);
                       static_cast<void>(collective::broadcast_chain(graph, members, c.root, reduced, to));
                     },
                     in, out, {1, 2, 1});
    if (Group(context, c.ranks).contains_me()) {
      ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n, std::plus<>()));
    }
  }
}

TEST_F(Chains, refuse_a_root_outside_of_the_group_and_elements_of_another_size) {
  const Group group = Group::all(context);
  Graph graph;
  const collective::SlotId slot = graph.output(64);
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const Combine floats(simd::ReduceOperation::sum, simd::Element::float32);
  EXPECT_THROW(static_cast<void>(collective::broadcast_chain(graph, group, ranks(), stream, {slot})), ArgumentError);
  EXPECT_THROW(static_cast<void>(collective::reduce_chain(graph, group, 0, stream, {slot}, {slot}, floats)),
               ArgumentError);
}

}  // namespace
}  // namespace plait::test
