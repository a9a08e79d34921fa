#include "plait/collective/mpi_strands.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/reduction.hpp"

#include "mpi/collective/stream_cases.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Graph;
using collective::Group;
using collective::MpiStrands;
using collective::Place;
using collective::Stream;
using mpi::Operation;

const mpi::Reduction sum = mpi::reduction<std::uint64_t>(Operation::sum());

struct StrandsOfMpi : ::testing::Test {
  mpi::Context context{test_comm()};

  // A few of the many cases: what MPI does is not what is tested.
  template <class F>
  void for_some_cases(F f) {
    int number = 0;
    for (const StreamCase& c : stream_cases(ranks())) {
      if (number++ % 7 != 0) continue;
      SCOPED_TRACE(testing::Message() << c);
      f(c, MpiStrands(context, Group(context, c.ranks), c.strands));
    }
  }
};

TEST_F(StrandsOfMpi, reduce_then_broadcast) {
  std::uint64_t seed = 3000;
  for_some_cases([&](const StreamCase& c, const MpiStrands& strands) {
    Words in = operands(++seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size());
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group&, const Stream& stream, Place from, Place to) {
          const Stream reduced = strands.reduce(graph, c.root, stream, from, to, sum);
          static_cast<void>(strands.broadcast(graph, c.root, reduced, to));
        },
        in, out);
    if (Group(context, c.ranks).contains_me()) {
      ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n, std::plus<>()));
    }
  });
}

TEST_F(StrandsOfMpi, allreduce) {
  std::uint64_t seed = 4000;
  for_some_cases([&](const StreamCase& c, const MpiStrands& strands) {
    Words in = operands(++seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size());
    StreamedRun::run(
        context, c,
        [&](Graph& graph, const Group&, const Stream& stream, Place from, Place to) {
          static_cast<void>(strands.allreduce(graph, stream, from, to, sum));
        },
        in, out);
    if (Group(context, c.ranks).contains_me()) {
      ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n, std::plus<>()));
    }
  });
}

TEST_F(StrandsOfMpi, refuse_what_the_library_gets_wrong) {
  const MpiStrands strands(context, Group::all(context), 1);
  Graph graph;
  const collective::SlotId slot = graph.output(64);
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const auto allreduce = [&](const mpi::Reduction& reduction) {
    static_cast<void>(strands.allreduce(graph, stream, {slot}, {slot}, reduction));
  };
  EXPECT_THROW(allreduce(mpi::reduction<std::uint64_t>(Operation::maximum())), ArgumentError);
  EXPECT_THROW(allreduce(mpi::reduction<float>(Operation::sum())), ArgumentError);
  EXPECT_THROW(static_cast<void>(strands.broadcast(graph, ranks(), stream, {slot})), ArgumentError);
  EXPECT_THROW(MpiStrands(context, Group::all(context), 0), ArgumentError);
}

}  // namespace
}  // namespace plait::test
