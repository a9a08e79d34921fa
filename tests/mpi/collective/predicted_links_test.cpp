// What the model takes algorithms to send, by node and between nodes, against what their schedules do send.
#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "plait/collective/algorithm/algorithms.hpp"
#include "plait/collective/algorithm/exchange.hpp"
#include "plait/model/rounds.hpp"

#include "mpi/collective/streamed.hpp"
#include "mpi/mpi/pretended_nodes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Blocks;
using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;
using model::Round;
using schedule::Binding;
using schedule::Combine;

constexpr Index word_bytes = sizeof(std::uint64_t);

// The nodes of as many ranks: one that has a rank and one that has three, again and again; dealt like cards; two by
// two; all in one; without any order.
std::vector<std::vector<int>> nodes_of(int ranks) {
  std::vector<std::vector<int>> all(5);
  for (int rank = 0; rank < ranks; ++rank) {
    all[0].push_back(2 * (rank / 4) + (rank % 4 == 0 ? 0 : 1));
    all[1].push_back(rank % 2);
    all[2].push_back(rank / 2);
    all[3].push_back(0);
    all[4].push_back(static_cast<int>(random_bits(4, static_cast<std::uint64_t>(rank)) % 3));
  }
  return all;
}

// The first ranks of the test, on nodes of their own choice.
struct Ranks {
  explicit Ranks(const std::vector<int>& node_of_rank)
      : pretended(PretendedNodes::of_ranks(node_of_rank)),
        part(split(static_cast<int>(node_of_rank.size()))),
        context(part) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() { MPI_Comm_free(&part); }

  static MPI_Comm split(int size) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(test_comm(), rank() < size ? 0 : 1, rank(), &part);
    return part;
  }

  PretendedNodes pretended;
  MPI_Comm part;
  mpi::Context context;
};

// What this rank sends of a vector, to its node and to others.
struct Sent {
  Index in_node = 0;
  Index to_others = 0;
  friend bool operator==(const Sent&, const Sent&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Sent& sent) {
    return out << sent.in_node << " bytes in the node, " << sent.to_others << " to others";
  }
};

Sent predicted(const mpi::Context& context, const std::vector<Round>& rounds, Index bytes) {
  Sent sent;
  for (const Round& round : rounds) {
    for (const model::Hop& hop : round.hops) {
      if (hop.from != context.rank()) continue;
      const bool is_near = context.topology().class_of(hop.to) == PeerClass::node;
      (is_near ? sent.in_node : sent.to_others) += round.times * hop.parts * (bytes / round.parts);
    }
  }
  return sent;
}

// Elements that can be cut into the parts of each round.
Index elements_for(const std::vector<Round>& rounds, int ranks) {
  Index n = ranks;
  for (const Round& round : rounds) n = std::lcm(n, round.parts);
  return n;
}

// build(graph, n, in, out)
template <class Build>
Sent counted(mpi::Context& context, Index n, const Build& build) {
  Graph graph;
  const Place in{graph.input(n * word_bytes)};
  const Place out{graph.output(n * word_bytes)};
  build(graph, in, out);
  const Words operand(static_cast<std::size_t>(n), 1);
  Words result(static_cast<std::size_t>(n), 0);
  const std::array bindings{Binding::input(std::as_bytes(std::span(operand))),
                            Binding::output(std::as_writable_bytes(std::span(result)))};
  context.counters().clear();
  schedule::Schedule schedule(context, std::move(graph), "links");
  schedule.start(bindings);
  schedule.wait();
  const TrafficCounters& sent = context.counters()["links"];
  return {sent.sent_to(PeerClass::node).bytes, sent.sent_to(PeerClass::network).bytes};
}

// check(context) among 4 ranks, among 6, among all of them, on each kind of nodes.
template <class Check>
void for_all_nodes(const Check& check) {
  for (const int size : {4, 6, ranks()}) {
    if (size > ranks()) continue;
    for (const std::vector<int>& nodes : nodes_of(size)) {
      Ranks some(nodes);
      if (rank() >= size) continue;
      SCOPED_TRACE(testing::Message() << size << " ranks on nodes " << testing::PrintToString(nodes));
      ASSERT_EQ(some.context.placement(), model::Placement::on_nodes(nodes));
      check(some.context);
    }
  }
}

// build(algorithm, graph, group, stream, in, out) for each algorithm of an operation.
template <model::Algorithm A, class Build>
void expect_as_predicted(mpi::Context& context, const Build& build) {
  const Group all = Group::all(context);
  for (std::size_t i = 0; i < model::algorithms<A>; ++i) {
    const auto algorithm = static_cast<A>(i);
    const std::vector<Round> rounds = model::rounds(algorithm, context.placement());
    const Index n = elements_for(rounds, context.size());
    const Sent sent = counted(context, n, [&](Graph& graph, Place in, Place out) {
      build(algorithm, graph, all, Stream::cut(n, word_bytes, 1, n), in, out);
    });
    Sent expected = predicted(context, rounds, n * word_bytes);
    // What it does inside of nodes it would do through memory, which the model counts as a core's work.
    if (to_string(algorithm) == "hierarchical") expected.in_node = sent.in_node;
    EXPECT_EQ(sent, expected) << model::AlgorithmNames<A>::operation << " by " << to_string(algorithm) << ", " << n
                              << " elements";
  }
}

TEST(PredictedLinks, are_those_of_the_schedules_wherever_ranks_are) {
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  for_all_nodes([&](mpi::Context& context) {
    expect_as_predicted<model::BroadcastAlgorithm>(
        context, [](auto algorithm, Graph& graph, const Group& all, const Stream& stream, Place, Place out) {
          static_cast<void>(broadcast_by(algorithm, graph, all, 0, stream, out));
        });
    expect_as_predicted<model::ReduceAlgorithm>(
        context, [&](auto algorithm, Graph& graph, const Group& all, const Stream& stream, Place in, Place out) {
          static_cast<void>(reduce_by(algorithm, graph, all, 0, stream, {in, out, sum}));
        });
    expect_as_predicted<model::AllreduceAlgorithm>(
        context, [&](auto algorithm, Graph& graph, const Group& all, const Stream& stream, Place in, Place out) {
          static_cast<void>(allreduce_by(algorithm, graph, context, all, stream, {in, out, sum}));
        });
    expect_as_predicted<model::ReduceScatterAlgorithm>(
        context, [&](auto algorithm, Graph& graph, const Group& all, const Stream& stream, Place in, Place out) {
          const Blocks blocks = Blocks::split(stream, all.size());
          static_cast<void>(reduce_scatter_by(algorithm, graph, all, blocks, {in, out, sum}));
        });
    expect_as_predicted<model::AllGatherAlgorithm>(
        context, [](auto algorithm, Graph& graph, const Group& all, const Stream& stream, Place, Place out) {
          static_cast<void>(all_gather_by(algorithm, graph, all, Blocks::split(stream, all.size()), out));
        });
    expect_as_predicted<model::AllToAllAlgorithm>(
        context, [](auto algorithm, Graph& graph, const Group& all, const Stream& stream, Place in, Place out) {
          const auto order = algorithm == model::AllToAllAlgorithm::pairwise ? collective::ExchangeOrder::pairwise
                                                                             : collective::ExchangeOrder::spread;
          const Blocks blocks = Blocks::split(stream, all.size());
          static_cast<void>(all_to_all(graph, all, order, {blocks, blocks}, in, out));
        });
  });
}

}  // namespace
}  // namespace plait::test
