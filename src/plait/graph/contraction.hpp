#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/graph/graph.hpp"

namespace plait::graph {

/// A graph in which several vertices of a finer one are one each. Weights add up.
struct Coarse {
  Vector<Index> offsets{0};
  Vector<Vertex> neighbours;
  PackedWeights edge_weights;
  PackedWeights vertex_weights;

  [[nodiscard]] GraphView view() const noexcept { return {offsets, neighbours, edge_weights, vertex_weights, {}}; }
};

/// \param vertex_of  of the finer graph's vertices: one or two have the same
[[nodiscard]] Coarse contracted(const GraphView& graph, std::span<const Vertex> vertex_of, Vertex vertices);

}  // namespace plait::graph
