#pragma once

#include <span>
#include <tuple>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/graph/graph.hpp"

namespace plait::partition {

/// What a partition is worth, computed from the graph and its labels alone.
struct Quality {
  int parts = 0;
  Index cut = 0;             // Σ weight of edges between parts
  Index cut_edges = 0;       // how many they are
  Index volume = 0;          // Σ size of v · how many other parts v has neighbours in
  Index boundary = 0;        // vertices with neighbours in other parts
  double imbalance = 0;      // heaviest part / even share - 1; 0 where nothing weighs anything
  Vector<Index> weights;     // of each part
  Vector<Index> vertices;    // in each part
  Vector<Index> components;  // of each part

  [[nodiscard]] Index most_components() const;
};
/// \pre  every label is in [0, parts)
[[nodiscard]] Quality quality_of(const graph::GraphView& graph, std::span<const int> part, int parts);

/// The graph of the parts: an edge where some vertices of two parts are neighbours, as heavy as the cut between these;
/// the weight of a part is that of its vertices.
[[nodiscard]] graph::Graph quotient_of(const graph::GraphView& graph, std::span<const int> part, int parts);

}  // namespace plait::partition
