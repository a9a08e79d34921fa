#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plait/collective/algorithm/shared_blocks.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// Ranks in groups, these in larger groups, and so on: those of a NUMA domain, of a node, of a rack. On all ranks the
/// same.
struct Hierarchy {
  /// Of the context, in the order in which their operands are combined if that matters; each group's ranks follow one
  /// another.
  std::vector<int> ranks;
  /// levels[0] tells how many ranks each of the innermost groups has, the next one how many of these groups each larger
  /// one has, … All of the last level's groups together are one.
  std::vector<std::vector<int>> levels;

  /// One level: the ranks of each node, nodes in the order of their lowest rank.
  [[nodiscard]] static Hierarchy of_nodes(const mpi::Context& context);

  /// Two levels: rank r is on the node `nodes[r]` and there in the NUMA domain `domains[r]`, by any numbers. The ranks
  /// of each domain, then the domains of each node; nodes and domains in the order of their lowest rank.
  /// \throws ArgumentError  unless there are as many domains as nodes, and one at least
  [[nodiscard]] static Hierarchy of_domains(std::span<const int> nodes, std::span<const int> domains);

  /// What suits an allreduce on the machine: by domains, if each has as many ranks, two at least, and each node as many
  /// domains, two at least; by nodes otherwise, as where ranks are not bound to cores (domain -1).
  /// \throws ArgumentError  as `of_domains`
  [[nodiscard]] static Hierarchy of_machine(std::span<const int> nodes, std::span<const int> domains);
  [[nodiscard]] static Hierarchy of_machine(const mpi::Context& context);

  /// \throws ArgumentError  a group of none, or groups that are not as many as there are ranks or groups inside of them
  void expect_consistent() const;
};

/// Through what the ranks of an innermost group reach each other: memory that they share, both of these, for the
/// stream; otherwise messages.
struct GroupWay {
  std::shared_ptr<const NodeStages> reduce = {};
  std::shared_ptr<const NodeStages> gather = {};

  /// Shared memory for what is cut like this stream, or messages on all ranks if a node has too little. Collective over
  /// the context, with streams that are cut alike.
  [[nodiscard]] static GroupWay through_memory(mpi::Context& context, const Stream& stream);
};

/// out of all ranks ← in[0] op in[1] op … of the hierarchy's ranks, in this order unless `combine` commutes; the same
/// bits on all of them. Within each group the vector is reduce-scattered, so that all of its ranks have equal work.
///
/// - Where all groups have as many ranks, those of equal place in their groups then allreduce what they have, and each
///   group gathers the results: all links of a node are used, and each rank sends little.
/// - Otherwise each rank hands its piece to the first of its group, the first ones allreduce the vector, and each hands
///   it down the chain of its group.
///
/// On the next level the same is done by groups of groups, and on top a ring, whose messages are as long as a segment
/// divided by the number of all ranks (by that of the first ones, if groups differ). Segments move from level to level
/// by themselves, so that one is reduced in the node while another one travels between nodes; who wants to compute with
/// what has come appends that to the stream that is returned, segment by segment.
///
/// \param way  of the innermost groups: by shared memory only where each of them lies in a node; kept by the graph
/// \throws ArgumentError  also if the hierarchy is inconsistent
///
/// Source: COFFEE, section V; for ranks of equal place, Mikami et al., "ImageNet/ResNet-50 training in 224 seconds".
[[nodiscard]] Stream allreduce_hierarchical(Graph& graph, const mpi::Context& context, const Hierarchy& hierarchy,
                                            const Stream& stream, const Reducing& how, const GroupWay& way = {});

}  // namespace plait::collective
