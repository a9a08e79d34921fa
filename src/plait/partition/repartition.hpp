#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/mpi/context.hpp"
#include "plait/partition/geometric.hpp"

namespace plait::partition {

struct RepartitionOptions {
  int parts = 2;
  double imbalance = .03;
  double most_moved = 1;  // share of all sizes that may move
  std::uint64_t seed = 0;
};

/// One way to go on from old parts.
struct Way {
  std::string name;
  Index cut = 0;
  Index moved = 0;  // Σ size of vertices whose part is not the old one
};

struct Repartition {
  std::vector<int> part;
  Way way;                 // that led to it: of those that move no more than is allowed, the one with the least cut
  std::vector<Way> front;  // all ways of which none other has both less cut and less moved; by what they move
};

/// Balances parts again after weights have changed, and trades the cut for what moves. Ways to do that are refinements
/// of the old parts, balanced by pieces that are handed over or by a flow through the graph of the parts, in which a
/// vertex that is not at home costs more and more; and a new partition. Labels of all are changed so that least moves,
/// exactly. The old parts as they are, and what balances them with few moves, whatever the cut, are ways as well. Old
/// parts from `parts` on are dissolved. Each way is the work of one rank, and the result the same for any number of
/// ranks. Collective over `context`, as `partition`.
///
/// \pre  flaw_of(graph) has no value
/// \throws ArgumentError  on every rank: as `partition`, old parts are not in [0, vertices), or no way moves as
///                        little as is allowed, with the least that one does
/// Sources: Hu, Blake, Emerson, "An optimal migration algorithm for dynamic load balancing", 1998 (the flow);
/// Schloegel, Karypis, Kumar, "A unified algorithm for load-balancing adaptive scientific simulations", 2000 (the
/// cost).
[[nodiscard]] Repartition repartition(mpi::Context& context, const graph::GraphView& graph, const Points& points,
                                      std::span<const int> old_part, const RepartitionOptions& options);

/// Labels, from 0 to parts - 1, changed so that Σ size of vertices that keep their old one is largest.
void relabel(const graph::GraphView& graph, std::span<const int> old_part, int parts, std::span<int> part);

}  // namespace plait::partition
