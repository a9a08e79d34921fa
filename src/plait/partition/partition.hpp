#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/mpi/context.hpp"
#include "plait/partition/geometric.hpp"

namespace plait::partition {

enum class Method : unsigned char {
  best,        // all others that are possible, spectral to kl up to 512 vertices; the least cut is kept
  multilevel,  // coarsening, recursive bisection, refinement on the way back
  spectral,    // by eigenvectors of the Laplacian, then refined
  levels,      // halves of a search breadth first, then refined
  kl,          // the same, after pairs were exchanged by Kernighan and Lin
  orb,         // geometry alone, then refined: halves by a plane across the longest extent of a box, again and again
  inertial,    // halves by a plane across the principal axis, again and again
  hilbert,     // pieces of Hilbert's curve through the box of all
  morton,      // pieces of Morton's curve: zones of equal cost in a quadtree or octree
};
[[nodiscard]] std::string_view name(Method method);

struct Options {
  int parts = 2;
  double imbalance = .03;  // by which the heaviest part may exceed the even share
  Method method = Method::best;
  std::uint64_t seed = 0;
};

/// What a part may weigh: (1 + imbalance) · total / parts, and as much as the even share rounded up.
[[nodiscard]] Index most_weight_of(Index total, int parts, double imbalance);

/// A partition and where it comes from.
struct Partition {
  std::vector<int> part;  // of each vertex
  Index cut = 0;
  std::string start;  // the method that it began with
  std::optional<double>
      least_cut;  // of the spectral method in two parts: what any two of as many vertices cut at least
};

/// Cuts a graph into parts that each have a vertex at least and weigh at most `most_weight_of` them, so that the edges
/// between them weigh little. Each method is the work of one rank, but for the first partitions of multilevel, which
/// all share; the result is that of the method with the least cut, and so the same for any number of ranks. Collective
/// over `context`: each rank sees the whole graph, alike (see mpi::NodeCopy).
///
/// \pre  flaw_of(graph) has no value
/// \throws ArgumentError  on every rank: options don't fit the graph, points are missing or don't fit, or there is no
///                        such partition: a vertex weighs more than a part may, there are more parts than vertices, or
///                        none was found though weights were packed by size alone
[[nodiscard]] Partition partition(mpi::Context& context, const graph::GraphView& graph, const Points& points,
                                  const Options& options);

}  // namespace plait::partition
