#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plait/graph/graph.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// A graph to cut, and the part of each vertex by whoever ran last.
struct PartitionProblem {
  graph::Graph graph;
  int parts = 2;
  double imbalance = .03;
  std::vector<int> part;
};

/// METIS_PartGraphKway as it comes. Empty without METIS.
[[nodiscard]] std::optional<Contender> metis(const std::shared_ptr<PartitionProblem>& problem);

/// SCOTCH_graphPart by the default strategy. Empty without Scotch.
[[nodiscard]] std::optional<Contender> scotch(const std::shared_ptr<PartitionProblem>& problem);

}  // namespace plait::bench
