#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/graph/contraction.hpp"

namespace plait::partition {

/// Which one of equally good mates a vertex prefers.
enum class Ties : unsigned char {
  lowest,   // that of the lowest number: an order that follows the shape of a mesh makes the coarse one a mesh as well
  nearest,  // that of the nearest number, so that what was numbered block by block is merged within blocks
  random,   // by a hash of both numbers
};

/// A mate for each vertex, itself where it has none: neighbours along heavy edges between light vertices, by the rating
/// weight² / (weight of v · weight of u), and among equals by their numbers. No vertex could have a better mate that
/// would prefer it, too, so that the order in which vertices are looked at does not matter. Where many stay alone, such
/// with a common neighbour, or with no neighbours at all, become mates as well.
///
/// \param most_weight  of two mates together
/// \param labels       if there are any, mates have the same
/// \param order        of the vertices, in which they are numbered; empty: that of their numbers
/// Source: Manne, Halappanavar, "New effective multithreaded matching algorithms", IPDPS 2014 (suitors); the rating:
/// Holtgrewe, Sanders, Schulz, "Engineering a scalable high quality graph partitioner", IPDPS 2010.
[[nodiscard]] Vector<graph::Vertex> mates_of(const graph::GraphView& graph, Index most_weight,
                                             std::span<const int> labels = {},
                                             std::span<const graph::Vertex> order = {}, Ties ties = Ties::lowest);

/// The vertex of the coarse graph that each one is in, counted in the order of the first in each. Of `mates`, which
/// become them.
/// \return how many there are
graph::Vertex merge(std::span<graph::Vertex> mates, std::span<const graph::Vertex> order = {});

}  // namespace plait::partition
