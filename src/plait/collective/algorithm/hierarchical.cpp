#include "plait/collective/algorithm/hierarchical.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/shared_blocks.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/stream.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::collective {

namespace {

bool have_one_size(const std::vector<int>& groups) {
  return std::count(groups.begin(), groups.end(), groups[0]) == std::ssize(groups);
}

// Those who take part on one level: in groups of these sizes, one after the other.
struct Members {
  const std::vector<int>& ranks;
  const std::vector<int>& sizes;

  [[nodiscard]] int widest() const { return *std::max_element(sizes.begin(), sizes.end()); }
  [[nodiscard]] bool are_alike() const { return have_one_size(sizes); }
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
  }
  blocks.add_stages(1);
  return blocks;
}

struct Levels {
  Graph& graph;
  const mpi::Context& context;
  const Hierarchy& hierarchy;
  const Reducing& how;
  const GroupWay& way;

  [[nodiscard]] Stream allreduce(const std::vector<int>& ranks, std::size_t level, const Stream& stream,
                                 Place in) const {
    const Reducing here{in, how.out, how.combine};
    if (level == hierarchy.levels.size()) return allreduce_ring(graph, Group(context, ranks), stream, here);
    const Members members{ranks, hierarchy.levels[level]};
    const Group group(context, members.group_of(context.rank()), members.widest());
    const bool shares = level == 0 && way.reduce != nullptr;
    Blocks blocks = Blocks::split(stream, group.size());
    blocks = shares ? reduce_scatter_shared(graph, group, std::move(blocks), here, *way.reduce)
                    : reduce_scatter_halving(graph, group, std::move(blocks), here);
    if (members.are_alike()) {
      const int place = std::max(group.me(), 0);
      blocks.replace(place, allreduce(members.at_place(place), level + 1, blocks.block(place), how.out));
      blocks = shares ? all_gather_shared(graph, group, std::move(blocks), how.out, *way.gather)
                      : all_gather_doubling(graph, group, std::move(blocks), how.out);
      return blocks.joined();
    }
    const Stream gathered = gather_to_first(graph, group, std::move(blocks), how.out).joined();
    const Stream reduced = allreduce(members.at_place(0), level + 1, gathered, how.out);
    return broadcast_chain(graph, group, 0, reduced, how.out);
  }
};

// The numbers of the groups that ranks are in, by each group's lowest rank.
std::vector<int> numbered(std::span<const std::pair<int, int>> group_of) {
  std::map<std::pair<int, int>, int> number_of;
  std::vector<int> numbers;
  numbers.reserve(group_of.size());
  for (const auto& group : group_of)
    numbers.push_back(number_of.try_emplace(group, static_cast<int>(number_of.size())).first->second);
  return numbers;
}

}  // namespace

Hierarchy Hierarchy::of_nodes(const mpi::Context& context) {
  return of_machine(context.topology().nodes_of_ranks(), std::vector<int>(at(context.size()), -1));
}

Hierarchy Hierarchy::of_domains(std::span<const int> nodes, std::span<const int> domains) {
  if (nodes.empty() || nodes.size() != domains.size()) {
    throw ArgumentError("domains: of " + std::to_string(domains.size()) + " ranks, nodes of " +
                        std::to_string(nodes.size()) + ", expected as many, and one at least");
  }
  std::vector<std::pair<int, int>> in_node;
  std::vector<std::pair<int, int>> in_domain;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    in_node.emplace_back(nodes[rank], 0);
    in_domain.emplace_back(nodes[rank], domains[rank]);
  }
  const std::vector<int> node_of = numbered(in_node);
  const std::vector<int> domain_of = numbered(in_domain);
  Hierarchy hierarchy;
  hierarchy.ranks.resize(nodes.size());
  std::iota(hierarchy.ranks.begin(), hierarchy.ranks.end(), 0);
  const auto place_of = [&](int rank) { return std::pair(node_of[at(rank)], domain_of[at(rank)]); };
  std::stable_sort(hierarchy.ranks.begin(), hierarchy.ranks.end(),
                   [&](int a, int b) { return place_of(a) < place_of(b); });
  hierarchy.levels.resize(2);
  std::pair<int, int> last{-1, -1};
  for (const int rank : hierarchy.ranks) {
    const auto place = place_of(rank);
    if (place.first != last.first) hierarchy.levels[1].push_back(0);
    if (place != last) {
      hierarchy.levels[0].push_back(0);
      ++hierarchy.levels[1].back();
    }
    ++hierarchy.levels[0].back();
    last = place;
  }
  return hierarchy;
}

Hierarchy Hierarchy::of_machine(std::span<const int> nodes, std::span<const int> domains) {
  Hierarchy hierarchy = of_domains(nodes, domains);
  const auto are_several = [](const std::vector<int>& sizes) { return have_one_size(sizes) && sizes[0] > 1; };
  const bool is_known = std::count(domains.begin(), domains.end(), -1) == 0;
  if (is_known && are_several(hierarchy.levels[0]) && are_several(hierarchy.levels[1])) return hierarchy;
  hierarchy = of_domains(nodes, std::vector<int>(nodes.size(), 0));
  hierarchy.levels.pop_back();
  return hierarchy;
}

Hierarchy Hierarchy::of_machine(const mpi::Context& context) {
  std::vector<int> domains;
  for (int rank = 0; rank < context.size(); ++rank) domains.push_back(context.topology().domain_of(rank));
  return of_machine(context.topology().nodes_of_ranks(), domains);
}

GroupWay GroupWay::through_memory(mpi::Context& context, const Stream& stream) {
  std::shared_ptr<NodeStages> reduce, gather;
  mpi::agreed(context, [&] {
    reduce = std::make_shared<NodeStages>(context, stream);
    gather = std::make_shared<NodeStages>(context, stream);
  });
  Index is_there = 1;
  try {
    reduce->share_memory(context);
    gather->share_memory(context);
  } catch (const OutOfMemory&) {
    is_there = 0;
  }
  if (mpi::all_reduce(context.comm(), is_there, mpi::Operation::minimum()) == 0) return {};
  return {std::move(reduce), std::move(gather)};
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
                              const Stream& stream, const Reducing& how, const GroupWay& way) {
  hierarchy.expect_consistent();
  expect_pairwise(stream, how.combine);
  graph.keep(way.reduce);
  graph.keep(way.gather);
  return Levels{graph, context, hierarchy, how, way}.allreduce(hierarchy.ranks, 0, stream, how.in);
}

}  // namespace plait::collective
