#include "plait/collective/hierarchical.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/collective/all_gather.hpp"
#include "plait/collective/allreduce.hpp"
#include "plait/collective/arguments.hpp"
#include "plait/collective/blocks.hpp"
#include "plait/collective/chain.hpp"
#include "plait/collective/reduce_scatter.hpp"
#include "plait/collective/shared_blocks.hpp"

namespace plait::collective {

namespace {

// Those who take part on one level: in groups of these sizes, one after the other.
struct Members {
  const std::vector<int>& ranks;
  const std::vector<int>& sizes;

  [[nodiscard]] int widest() const { return *std::max_element(sizes.begin(), sizes.end()); }
  [[nodiscard]] bool are_alike() const { return std::count(sizes.begin(), sizes.end(), sizes[0]) == std::ssize(sizes); }
  // The group of a rank; of one that is left out, the first.
  [[nodiscard]] std::vector<int> group_of(int rank) const {
    auto begin = ranks.begin();
    for (const int size : sizes) {
      if (std::find(begin, begin + size, rank) != begin + size) return {begin, begin + size};
      begin += size;
    }
    return {ranks.begin(), ranks.begin() + sizes[0]};
  }
  // Those of one place in their groups.
  [[nodiscard]] std::vector<int> at_place(int place) const {
    std::vector<int> found;
    auto begin = ranks.begin();
    for (const int size : sizes) {
      found.push_back(*(begin + place));
      begin += size;
    }
    return found;
  }
};

// Where a rank stands in its group; one that is left out does as the first.
int place_in(const std::vector<int>& group, int rank) {
  const auto found = std::find(group.begin(), group.end(), rank);
  return found == group.end() ? 0 : static_cast<int>(found - group.begin());
}

// The pieces come to the first of the group.
Blocks gather_to_first(Graph& graph, const Group& group, Blocks blocks, Place data) {
  for (Chunk& chunk : blocks.chunks()) {
    const Position position = chunk.front().position();
    for (int index = 1; group.contains_me() && index < group.size(); ++index) {
      Segment& piece = chunk[at(index)];
      const Range range = blocks.range(data, piece.begin, piece.end);
      if (group.me() == index) {
        piece.readers.push_back(graph.send(position, group.rank(0), range, piece.final));
      } else if (group.me() == 0) {
        piece.final = {graph.receive(position, group.rank(index), range, piece.final_and_read())};
        piece.readers = {};
      }
    }
    for (Segment& piece : chunk) ++piece.stage;
  }
  return blocks;
}

struct Levels {
  Graph& graph;
  const mpi::Context& context;
  const Hierarchy& hierarchy;
  Place out;
  const Combine& combine;
  GroupWay way;

  [[nodiscard]] Stream allreduce(const std::vector<int>& ranks, std::size_t level, const Stream& stream,
                                 Place in) const {
    if (level == hierarchy.levels.size()) return allreduce_ring(graph, Group(context, ranks), stream, in, out, combine);
    const Members members{ranks, hierarchy.levels[level]};
    const Group group(context, members.group_of(context.rank()), members.widest());
    const bool shares = level == 0 && way.reduce != nullptr;
    Blocks blocks = Blocks::split(stream, group.size());
    blocks = shares ? reduce_scatter_shared(graph, group, std::move(blocks), in, out, combine, *way.reduce)
                    : reduce_scatter_halving(graph, group, std::move(blocks), in, out, combine);
    if (members.are_alike()) {
      const int place = std::max(group.me(), 0);
      blocks.replace(place, allreduce(members.at_place(place), level + 1, blocks.block(place), out));
      blocks = shares ? all_gather_shared(graph, group, std::move(blocks), out, *way.gather)
                      : all_gather_doubling(graph, group, std::move(blocks), out);
      return blocks.joined();
    }
    const Stream gathered = gather_to_first(graph, group, std::move(blocks), out).joined();
    const Stream reduced = allreduce(members.at_place(0), level + 1, gathered, out);
    return broadcast_chain(graph, group, 0, reduced, out);
  }
};

Exchanged traffic_of(Index elements, Index element_bytes, const std::vector<int>& ranks, const Hierarchy& hierarchy,
                     std::size_t level, int rank, bool commutes, bool shares_memory) {
  if (level == hierarchy.levels.size()) {
    return allreduce_ring_traffic(elements, element_bytes, static_cast<int>(ranks.size()), place_in(ranks, rank),
                                  commutes);
  }
  const Members members{ranks, hierarchy.levels[level]};
  const std::vector<int> group = members.group_of(rank);
  const int size = static_cast<int>(group.size());
  const int place = place_in(group, rank);
  const std::vector<Index> bytes = bytes_of_pieces(elements, element_bytes, size);
  const bool shares = level == 0 && shares_memory;
  Exchanged all =
      shares ? reduce_scatter_shared_traffic(bytes, place) : reduce_scatter_halving_traffic(bytes, place, commutes);
  const auto add_next = [&](Index part) {
    all += traffic_of(part, element_bytes, members.at_place(place), hierarchy, level + 1, rank, commutes, false);
  };
  if (members.are_alike()) {
    add_next(bytes[at(place)] / element_bytes);
    all += shares ? all_gather_shared_traffic(bytes, place) : all_gather_doubling_traffic(bytes, place);
    return all;
  }
  if (place == 0) {
    for (int other = 1; other < size; ++other) all.receive(bytes[at(other)]);
    add_next(elements);
  } else {
    all.send(bytes[at(place)]);
    all.receive(elements * element_bytes);
  }
  if (place < size - 1) all.send(elements * element_bytes);
  return all;
}

}  // namespace

Hierarchy Hierarchy::of_nodes(const mpi::Context& context) {
  const mpi::NodeTopology& topology = context.topology();
  Hierarchy hierarchy;
  hierarchy.levels.emplace_back(at(topology.nodes()), 0);
  hierarchy.ranks.resize(at(context.size()));
  std::iota(hierarchy.ranks.begin(), hierarchy.ranks.end(), 0);
  for (const int rank : hierarchy.ranks) ++hierarchy.levels[0][at(topology.node_of(rank))];
  std::stable_sort(hierarchy.ranks.begin(), hierarchy.ranks.end(),
                   [&](int a, int b) { return topology.node_of(a) < topology.node_of(b); });
  return hierarchy;
}

void Hierarchy::expect_consistent() const {
  auto inside = std::ssize(ranks);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::vector<int>& sizes = levels[level];
    const std::string name = "levels[" + std::to_string(level) + "]";
    if (std::any_of(sizes.begin(), sizes.end(), [](int size) { return size < 1; }))
      throw ArgumentError(name + ": a group of none, expected at least one in each");
    const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::ptrdiff_t{0});
    if (sum != inside) {
      throw ArgumentError(name + ": groups of " + std::to_string(sum) + " in all, expected " + std::to_string(inside));
    }
    inside = std::ssize(sizes);
  }
}

Stream allreduce_hierarchical(Graph& graph, const mpi::Context& context, const Hierarchy& hierarchy,
                              const Stream& stream, Place in, Place out, const Combine& combine, GroupWay way) {
  hierarchy.expect_consistent();
  expect_pairwise(stream, combine);
  return Levels{graph, context, hierarchy, out, combine, way}.allreduce(hierarchy.ranks, 0, stream, in);
}

Exchanged allreduce_hierarchical_traffic(Index elements, Index element_bytes, const Hierarchy& hierarchy, int rank,
                                         bool commutes, bool shares_memory) {
  return traffic_of(elements, element_bytes, hierarchy.ranks, hierarchy, 0, rank, commutes, shares_memory);
}

}  // namespace plait::collective
