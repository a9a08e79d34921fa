#include "plait/collective/algorithm/hierarchical.hpp"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "mpi/collective/block_cases.hpp"
#include "mpi/mpi/pretended_nodes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Graph;
using collective::GroupWay;
using collective::Hierarchy;
using collective::Place;
using collective::Stream;
using schedule::Combine;

// Nodes as they are pretended to be, for any number of ranks: a new group begins where the pattern says.
std::vector<int> groups_of(int things, const std::vector<int>& pattern) {
  std::vector<int> sizes;
  for (auto next = pattern.begin(); things > 0; next = next + 1 == pattern.end() ? pattern.begin() : next + 1) {
    sizes.push_back(std::min(*next, things));
    things -= sizes.back();
  }
  return sizes;
}

std::vector<Hierarchy> hierarchies(int ranks) {
  std::vector<int> up(static_cast<std::size_t>(ranks));
  std::iota(up.begin(), up.end(), 0);
  const std::vector<int> down(up.rbegin(), up.rend());
  std::vector<Hierarchy> all;
  const auto add = [&](const std::vector<int>& order, const std::vector<std::vector<int>>& patterns) {
    Hierarchy hierarchy{order, {}};
    int things = ranks;
    for (const auto& pattern : patterns) {
      hierarchy.levels.push_back(groups_of(things, pattern));
      things = static_cast<int>(hierarchy.levels.back().size());
    }
    all.push_back(hierarchy);
  };
  add(up, {});               // a ring
  add(up, {{3}});            // as many each
  add(down, {{4}});          // the last one has fewer
  add(up, {{ranks}});        // one node
  add(down, {{1}});          // nodes of one rank
  add(up, {{1, 5, 2}});      // any
  add(down, {{1, 2}, {2}});  // NUMA domains
  add(up, {{2, 1}, {2, 1}, {2}});
  return all;
}

std::string name_of(const Hierarchy& hierarchy) {
  std::string name = "from " + std::to_string(hierarchy.ranks[0]);
  for (const auto& level : hierarchy.levels) {
    name += ", groups of";
    for (const int size : level) name += " " + std::to_string(size);
  }
  return name;
}

struct Hierarchical : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(Hierarchical, give_all_ranks_the_same_in_order) {
  std::uint64_t seed = 9000;
  const Compose compose;
  const Combine operations[] = {Combine::elementwise<std::uint64_t>(compose),
                                {simd::ReduceOperation::sum, simd::Element::uint64}};
  for (const Hierarchy& hierarchy : hierarchies(ranks())) {
    for (const bool shares : {false, true}) {
      for (const Combine& combine : operations) {
        ++seed;
        const Index n = std::vector<Index>{0, 1, 7, 300, 1000}[seed % 5];
        const StreamCase c{hierarchy.ranks, 0, n, 1 + static_cast<int>(seed % 3), seed % 2 == 0 ? 64 : 1000,
                           seed % 4 >= 2};
        SCOPED_TRACE(testing::Message() << name_of(hierarchy) << ", " << c << ", shares " << shares << ", commutes "
                                        << combine.commutes());
        Words in = operands(seed, rank(), n);
        Words out = c.in_place ? in : Words(in.size(), untouched);
        const Stream stream = Stream::cut(c.n, 8, c.strands, c.segment);
        const GroupWay way = shares ? GroupWay::through_memory(context, stream) : GroupWay{};
        context.counters().clear();
        StreamedRun::run(
            context, c,
            [&](Graph& graph, const collective::Group&, const Stream& whole, Place from, Place to) {
              static_cast<void>(
                  allreduce_hierarchical(graph, context, hierarchy, whole, {from, to, combine}, way).final(graph));
            },
            in, out, {seed % 5 == 0 ? 1 : 16, seed % 7 == 0 ? 1 : 16, 1});
        const auto f = [&](std::uint64_t a, std::uint64_t b) { return combine.commutes() ? a + b : compose(a, b); };
        ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n, f));
        Exchanged expected;
        for (const collective::Segment& segment : stream.segments()) {
          for (const Exchanged& level : allreduce_hierarchical_traffic(
                   segment.elements(), 8, hierarchy, rank(), combine.commutes(), shares && !hierarchy.levels.empty())) {
            expected += level;
          }
        }
        EXPECT_EQ(exchanged(context, "streamed"), expected);
      }
    }
  }
}

// What this rank sends on nodes of these sizes: inside of its own, and to others.
struct NodeTraffic {
  Traffic in_node, to_others;
  friend bool operator==(const NodeTraffic&, const NodeTraffic&) = default;
  friend std::ostream& operator<<(std::ostream& out, const NodeTraffic& sent) {
    return out << "in the node " << sent.in_node.messages << " messages, " << sent.in_node.bytes << " bytes, to others "
               << sent.to_others.messages << " messages, " << sent.to_others.bytes << " bytes";
  }
};

NodeTraffic sent_on_nodes(const std::vector<int>& sizes, const Hierarchy& hierarchy, Index n) {
  const PretendedNodes nodes(sizes);
  mpi::Context context(test_comm());
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  Words data = operands(4, rank(), n);
  Words none;
  StreamedRun::run(
      context, {hierarchy.ranks, 0, n, 1, n, true},
      [&](Graph& graph, const collective::Group&, const Stream& stream, Place, Place to) {
        const GroupWay way = GroupWay::through_memory(context, stream);
        static_cast<void>(allreduce_hierarchical(graph, context, hierarchy, stream, {to, to, sum}, way));
      },
      none, data);
  EXPECT_EQ(data, combined(4, hierarchy.ranks, 0, n, std::plus<>()));
  const TrafficCounters& counted = context.counters()["streamed"];
  return {counted.sent_to(PeerClass::node), counted.sent_to(PeerClass::network)};
}

// Once each domain, and once each node is taken for a node: so messages of each level are told from those above it.
TEST(Levels, of_domains_nodes_and_the_network_send_what_their_formulas_say) {
  const Index n = 1001;
  const std::vector<std::pair<std::vector<int>, std::vector<int>>> patterns{
      {{2}, {2}}, {{3}, {2}}, {{1, 2}, {2}}, {{2}, {1, 3}}};
  for (const auto& [in_domain, in_node] : patterns) {
    Hierarchy hierarchy{std::vector<int>(static_cast<std::size_t>(ranks())), {groups_of(ranks(), in_domain)}};
    std::iota(hierarchy.ranks.begin(), hierarchy.ranks.end(), 0);
    hierarchy.levels.push_back(groups_of(static_cast<int>(hierarchy.levels[0].size()), in_node));
    SCOPED_TRACE(name_of(hierarchy));
    std::vector<int> ranks_of_nodes;
    auto domain = hierarchy.levels[0].begin();
    for (const int domains : hierarchy.levels[1]) {
      ranks_of_nodes.push_back(std::accumulate(domain, domain + domains, 0));
      domain += domains;
    }
    const std::vector<Exchanged> levels = allreduce_hierarchical_traffic(n, 8, hierarchy, rank(), true, true);
    ASSERT_EQ(levels.size(), 3);
    Traffic above_domains = levels[1].sent;
    above_domains += levels[2].sent;
    Traffic below_network = levels[0].sent;
    below_network += levels[1].sent;
    EXPECT_EQ(sent_on_nodes(hierarchy.levels[0], hierarchy, n), (NodeTraffic{levels[0].sent, above_domains}));
    EXPECT_EQ(sent_on_nodes(ranks_of_nodes, hierarchy, n), (NodeTraffic{below_network, levels[2].sent}));
  }
}

TEST(Levels, are_the_domains_of_each_node) {
  const auto expect = [](const std::vector<int>& nodes, const std::vector<int>& domains, const Hierarchy& expected) {
    const Hierarchy found = Hierarchy::of_domains(nodes, domains);
    EXPECT_EQ(found.ranks, expected.ranks);
    EXPECT_EQ(found.levels, expected.levels);
    found.expect_consistent();
  };
  expect({0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 0, 0, 1, 1}, {{0, 1, 2, 3, 4, 5, 6, 7}, {{2, 2, 2, 2}, {2, 2}}});
  expect({0, 1, 0, 1, 0, 1}, {1, 0, 0, 0, 1, 0}, {{0, 4, 2, 1, 3, 5}, {{2, 1, 3}, {2, 1}}});
  expect({9, 9, 9}, {-1, -1, -1}, {{0, 1, 2}, {{3}, {1}}});
  EXPECT_THROW(static_cast<void>(Hierarchy::of_domains({}, {})), ArgumentError);
  const std::vector<int> one{0};
  EXPECT_THROW(static_cast<void>(Hierarchy::of_domains(one, {})), ArgumentError);
}

TEST(Levels, have_domains_only_where_all_are_alike) {
  const auto levels = [](const std::vector<int>& nodes, const std::vector<int>& domains) {
    return Hierarchy::of_machine(nodes, domains).levels;
  };
  using Expected = std::vector<std::vector<int>>;
  EXPECT_EQ(levels({0, 0, 0, 0, 1, 1, 1, 1}, {0, 1, 0, 1, 0, 1, 0, 1}), (Expected{{2, 2, 2, 2}, {2, 2}}));
  EXPECT_EQ(levels({0, 0, 0, 0, 1, 1, 1, 1}, {0, 1, 0, 1, 0, 1, 0, -1}), (Expected{{4, 4}})) << "one is not bound";
  EXPECT_EQ(levels({0, 0, 0, 0, 0}, {0, 0, 1, 1, 1}), (Expected{{5}})) << "two and three";
  EXPECT_EQ(levels({0, 0, 1, 1}, {0, 1, 0, 1}), (Expected{{2, 2}})) << "a rank each";
  EXPECT_EQ(levels({0, 1, 0, 1}, {0, 0, 0, 0}), (Expected{{2, 2}})) << "one domain a node";
  EXPECT_EQ(Hierarchy::of_machine(std::vector{0, 1, 0, 1}, std::vector{0, 0, 0, 0}).ranks, (std::vector{0, 2, 1, 3}));
}

// A step on each segment that has come, while others travel.
TEST_F(Hierarchical, hand_over_segment_by_segment) {
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  const Hierarchy hierarchy = Hierarchy::of_nodes(context);
  Words data = operands(3, rank(), 1000);
  Words none;
  StreamedRun::run(
      context, {hierarchy.ranks, 0, 1000, 2, 100, true},
      [&](Graph& graph, const collective::Group&, const Stream& stream, Place, Place to) {
        const Stream reduced = allreduce_hierarchical(graph, context, hierarchy, stream, {to, to, sum});
        for (const collective::Segment& segment : reduced.segments()) {
          const auto doubled = [segment, to](const schedule::Run& run, Index) {
            auto* const words = reinterpret_cast<std::uint64_t*>(run.address(to.slot));
            for (Index i = segment.begin; i < segment.end; ++i) words[i] *= 2;
          };
          static_cast<void>(graph.compute(segment.position(), 1, doubled, {to.slot}, segment.final_and_read()));
        }
      },
      none, data);
  Words expected = combined(3, hierarchy.ranks, 0, 1000, std::plus<>());
  for (std::uint64_t& word : expected) word *= 2;
  EXPECT_EQ(data, expected);
}

TEST_F(Hierarchical, refuse_groups_that_are_none) {
  Graph graph;
  const collective::SlotId slot = graph.output(64);
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const Combine sum(simd::ReduceOperation::sum, simd::Element::uint64);
  std::vector<int> all(static_cast<std::size_t>(ranks()));
  std::iota(all.begin(), all.end(), 0);
  for (const auto& levels : {std::vector<std::vector<int>>{{ranks(), 0}}, {{ranks() + 1}}, {{ranks()}, {2}}}) {
    EXPECT_THROW(
        static_cast<void>(allreduce_hierarchical(graph, context, {all, levels}, stream, {{slot}, {slot}, sum})),
        ArgumentError);
  }
}

}  // namespace
}  // namespace plait::test
