#include "plait/model/rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "plait/base/doublings.hpp"
#include "plait/base/rounding.hpp"
#include "plait/model/pairing.hpp"

namespace plait::model {

namespace {

using Rounds = std::vector<Round>;

void append(Rounds& all, Rounds some) { std::ranges::move(some, std::back_inserter(all)); }

// To the rank that many places further, or before (distance < 0), around the ring.
Round shift(int ranks, int distance, Index parts, bool combines) {
  Round round{.hops = {}, .parts = ranks, .combines = combines};
  for (int from = 0; from < ranks; ++from) round.hops.push_back({from, (from + distance + ranks) % ranks, parts});
  return round;
}

// Each rank to the one before it, ranks - 1 times.
Rounds ring(int ranks, bool combines) {
  if (ranks == 1) return {};
  Round round = shift(ranks, -1, 1, combines);
  round.times = ranks - 1;
  return {std::move(round)};
}

// Round k of the doubling way: how many parts travel 2^k places.
Index parts_at(int ranks, int distance) { return std::min(distance, ranks - distance); }

Rounds doubling(int ranks) {
  Rounds all;
  for (int distance = 1; distance < ranks; distance *= 2)
    all.push_back(shift(ranks, -distance, parts_at(ranks, distance), false));
  return all;
}

Rounds halving(int ranks) {
  Rounds all;
  for (int level = doublings(ranks) - 1; level >= 0; --level)
    all.push_back(shift(ranks, 1 << level, parts_at(ranks, 1 << level), true));
  return all;
}

// At level k of a binomial tree, the rank 2^k beside a rank is the head of the next block of 2^k.
enum class Carries : unsigned char { all, parts };  // everything, or the parts of those in the block

Round level_down(int ranks, int level, Carries carries) {
  Round round{.hops = {}, .parts = carries == Carries::all ? 1 : ranks};
  const Index size = Index{1} << level;
  for (Index head = 0; head + size < ranks; head += 2 * size) {
    const Index parts = carries == Carries::all ? 1 : std::min(size, ranks - head - size);
    round.hops.push_back({static_cast<int>(head), static_cast<int>(head + size), parts});
  }
  return round;
}

Round level_up(int ranks, int level, Carries carries, bool combines) {
  Round round = level_down(ranks, level, carries);
  for (Hop& hop : round.hops) std::swap(hop.from, hop.to);
  round.combines = combines;
  return round;
}

Rounds tree_down(int ranks, Carries carries) {
  Rounds all;
  for (int level = doublings(ranks) - 1; level >= 0; --level) all.push_back(level_down(ranks, level, carries));
  return all;
}

Rounds tree_up(int ranks, Carries carries, bool combines) {
  Rounds all;
  for (int level = 0; level < doublings(ranks); ++level) all.push_back(level_up(ranks, level, carries, combines));
  return all;
}

Round chain(int ranks, bool combines) {
  Round round{.hops = {}, .combines = combines, .is_chain = true};
  for (int from = 0; from + 1 < ranks; ++from) round.hops.push_back({from, from + 1, 1});
  return round;
}

Rounds chain_down(int ranks) {
  if (ranks == 1) return {};
  return {chain(ranks, false)};
}

Rounds chain_up(int ranks) {
  if (ranks == 1) return {};
  Round round = chain(ranks, true);
  for (Hop& hop : round.hops) std::swap(hop.from, hop.to);
  std::ranges::reverse(round.hops);
  return {std::move(round)};
}

// Pairs of neighbours at the beginning act as one rank each; then all that act exchange everything.
Rounds recursive_doubling(int ranks) {
  const Pairing pairing(ranks);
  Round before{.hops = {}, .combines = true};
  Round after{.hops = {}};
  for (int pair = 0; pair < pairing.pairs; ++pair) {
    before.hops.push_back({2 * pair + 1, 2 * pair, 1});
    after.hops.push_back({2 * pair, 2 * pair + 1, 1});
  }
  Rounds all;
  if (pairing.pairs > 0) all.push_back(std::move(before));
  for (int round = 0; round < pairing.rounds(); ++round) {
    Round exchange{.hops = {}, .combines = true};
    for (int actor = 0; actor < pairing.actors; ++actor)
      exchange.hops.push_back({pairing.first_rank(actor), pairing.first_rank(actor ^ (1 << round)), 1});
    all.push_back(std::move(exchange));
  }
  if (pairing.pairs > 0) all.push_back(std::move(after));
  return all;
}

std::vector<std::vector<int>> ranks_of_nodes(const Placement& placement) {
  std::vector<std::vector<int>> nodes(static_cast<std::size_t>(placement.nodes()));
  for (int rank = 0; rank < placement.ranks; ++rank)
    nodes[static_cast<std::size_t>(placement.node_of(rank))].push_back(rank);
  return nodes;
}

// Into how many parts a vector is cut so that each node's pieces are whole numbers of them; nearly, where nodes are of
// very many different sizes.
Index common_parts(const std::vector<std::vector<int>>& nodes) {
  constexpr Index most = 1'000'000;
  Index parts = 1;
  for (const auto& node : nodes) {
    const Index next = std::lcm(parts, static_cast<Index>(node.size()));
    if (next > most) return most;
    parts = next;
  }
  return parts;
}

// Between the nodes, after each has reduced and before each gathers: rings of those of equal place, or, where nodes
// differ in their ranks, of the first ones, to whom the others hand over.
Rounds hierarchical(const Placement& placement) {
  const auto nodes = ranks_of_nodes(placement);
  const auto count = static_cast<int>(nodes.size());
  const auto widest = static_cast<std::size_t>(placement.ranks_per_node);
  const bool are_alike = std::ranges::all_of(nodes, [&](const auto& node) { return node.size() == widest; });

  Rounds between;
  for (const bool combines : {true, false}) {
    for (const Round& round : ring(count, combines)) {
      Round of_places{.hops = {},
                      .parts = are_alike ? count * Index{placement.ranks_per_node} : count,
                      .combines = combines,
                      .times = round.times};
      for (const Hop& hop : round.hops) {
        const auto& from = nodes[static_cast<std::size_t>(hop.from)];
        const auto& to = nodes[static_cast<std::size_t>(hop.to)];
        for (std::size_t place = 0; place < (are_alike ? widest : 1); ++place)
          of_places.hops.push_back({from[place], to[place], 1});
      }
      between.push_back(std::move(of_places));
    }
  }
  if (are_alike) return between;

  Rounds all;
  Round to_first{.hops = {}, .parts = common_parts(nodes)};
  for (const auto& node : nodes) {
    const auto size = static_cast<Index>(node.size());
    for (std::size_t place = 1; place < node.size(); ++place)
      to_first.hops.push_back({node[place], node[0], quotient_up(to_first.parts, size)});
  }
  all.push_back(std::move(to_first));
  append(all, std::move(between));
  Round down{.hops = {}, .is_chain = true};
  for (const auto& node : nodes) {
    for (std::size_t place = 0; place + 1 < node.size(); ++place)
      down.hops.push_back({node[place], node[place + 1], 1});
  }
  all.push_back(std::move(down));
  return all;
}

// Whether two ranks of one node are so many places apart, around the ring of all ranks.
std::vector<bool> are_distances_within_nodes(const Placement& placement) {
  std::vector<bool> found(static_cast<std::size_t>(placement.ranks), false);
  for (const auto& node : ranks_of_nodes(placement)) {
    for (const int from : node) {
      for (const int to : node) found[static_cast<std::size_t>((to - from + placement.ranks) % placement.ranks)] = true;
    }
  }
  return found;
}

}  // namespace

Rounds rounds(BroadcastAlgorithm algorithm, const Placement& placement) {
  const int ranks = placement.ranks;
  Rounds all;
  switch (algorithm) {
    case BroadcastAlgorithm::chain: all = chain_down(ranks); break;
    case BroadcastAlgorithm::binomial: all = tree_down(ranks, Carries::all); break;
    case BroadcastAlgorithm::scatter_all_gather:
      all = tree_down(ranks, Carries::parts);
      append(all, ring(ranks, false));
      break;
    case BroadcastAlgorithm::scatter_doubling:
      all = tree_down(ranks, Carries::parts);
      append(all, doubling(ranks));
      break;
  }
  return all;
}

Rounds rounds(ReduceAlgorithm algorithm, const Placement& placement) {
  const int ranks = placement.ranks;
  Rounds all;
  switch (algorithm) {
    case ReduceAlgorithm::chain: all = chain_up(ranks); break;
    case ReduceAlgorithm::binomial: all = tree_up(ranks, Carries::all, true); break;
    case ReduceAlgorithm::halving_gather:
      all = halving(ranks);
      append(all, tree_up(ranks, Carries::parts, false));
      break;
  }
  return all;
}

Rounds rounds(AllreduceAlgorithm algorithm, const Placement& placement) {
  const int ranks = placement.ranks;
  Rounds all;
  switch (algorithm) {
    case AllreduceAlgorithm::ring:
      all = ring(ranks, true);
      append(all, ring(ranks, false));
      break;
    case AllreduceAlgorithm::recursive_doubling: all = recursive_doubling(ranks); break;
    case AllreduceAlgorithm::rabenseifner:
      all = halving(ranks);
      append(all, doubling(ranks));
      break;
    case AllreduceAlgorithm::hierarchical: all = hierarchical(placement); break;
  }
  return all;
}

Rounds rounds(AllGatherAlgorithm algorithm, const Placement& placement) {
  return algorithm == AllGatherAlgorithm::ring ? ring(placement.ranks, false) : doubling(placement.ranks);
}

Rounds rounds(ReduceScatterAlgorithm algorithm, const Placement& placement) {
  return algorithm == ReduceScatterAlgorithm::ring ? ring(placement.ranks, true) : halving(placement.ranks);
}

// At distances that no two ranks of a node are apart, all ranks send to other nodes: one stands for them all.
Rounds rounds(AllToAllAlgorithm /*algorithm*/, const Placement& placement) {
  const std::vector<bool> is_near = are_distances_within_nodes(placement);
  Rounds all;
  int far = 0;
  int a_far_one = 0;
  for (int distance = 1; distance < placement.ranks; ++distance) {
    if (is_near[static_cast<std::size_t>(distance)]) {
      all.push_back(shift(placement.ranks, distance, 1, false));
    } else {
      ++far;
      a_far_one = distance;
    }
  }
  if (far == 0) return all;
  all.push_back(shift(placement.ranks, a_far_one, 1, false));
  all.back().times = far;
  return all;
}

}  // namespace plait::model
