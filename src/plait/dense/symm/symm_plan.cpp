#include "plait/dense/symm/symm_plan.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/symm/symm_blocking.hpp"
#include "plait/dense/symm/symm_cannon.hpp"
#include "plait/dense/symm/symm_mirrored.hpp"
#include "plait/dense/symm/symm_overlapped.hpp"

namespace plait::dense {

namespace {

// Of Algorithm 6: the layers with which most ranks take part, as many as these can be.
int most_useful_layers(int ranks, const SymmOptions& options) {
  const auto used = [&](int layers) {
    const int edge = options.edge.value_or(SymmGrid::largest_edge(ranks, layers));
    return layers <= edge && Index{edge} * edge * layers <= ranks ? edge * edge * layers : 0;
  };
  int best = 1;
  for (int layers = 2; layers <= SymmGrid::largest_cube(ranks); ++layers)
    if (used(layers) >= used(best)) best = layers;
  return best;
}

SymmAlgorithm better_algorithm(int ranks) {
  const Index cube = SymmGrid::largest_cube(ranks);
  const int layers = most_useful_layers(ranks, {});
  const Index edge = SymmGrid::largest_edge(ranks, layers);
  return edge * edge * layers > 2 * cube * cube * cube ? SymmAlgorithm::cannon : SymmAlgorithm::mirrored;
}

}  // namespace

SymmOptions complete(int ranks, Index n, SymmOptions options) {
  expect_at_least("n", n, 0);
  collective::expect_strands(options.strands.value_or(1));
  expect_at_least("segment_bytes", options.segment_bytes.value_or(1), 1);
  expect_at_least("edge", options.edge.value_or(1), 1);
  expect_at_least("layers", options.layers.value_or(1), 1);
  static_cast<void>(layout::elements({n, n}));  // an Index can count them
  if (!options.algorithm) options.algorithm = better_algorithm(ranks);
  const bool is_cube = options.algorithm != SymmAlgorithm::cannon;
  if (is_cube) {
    if (!options.edge) options.edge = SymmGrid::largest_cube(ranks);
    options.layers = options.edge;
  } else {
    if (!options.layers) options.layers = most_useful_layers(ranks, options);
    if (!options.edge) options.edge = SymmGrid::largest_edge(ranks, *options.layers);
  }
  if (*options.layers > *options.edge) {
    throw ArgumentError(fmt::format("layers: {}, expected at most the mesh's edge, {} on {} ranks", *options.layers,
                                    *options.edge, ranks));
  }
  const int most = is_cube ? SymmGrid::largest_cube(ranks) : SymmGrid::largest_edge(ranks, *options.layers);
  if (*options.edge > most || Index{most} * most * *options.layers > ranks) {
    throw ArgumentError(fmt::format("edge: {}, expected at most {}, for a mesh of edge x edge x {} of {} ranks",
                                    *options.edge, most, is_cube ? "edge" : std::to_string(*options.layers), ranks));
  }
  return options;
}

SymmGrid symm_grid(Index n, const SymmOptions& options) { return {n, *options.edge, *options.layers}; }

std::unique_ptr<SymmPlan> make_symm_plan(mpi::Context& context, Index n, const SymmProducts& products,
                                         const SymmOptions& options) {
  const SymmGrid mesh = symm_grid(n, options);
  switch (*options.algorithm) {
    case SymmAlgorithm::original:
    case SymmAlgorithm::baseline: return std::make_unique<SymmBlocking>(context, mesh, products, options);
    case SymmAlgorithm::overlapped: return std::make_unique<SymmOverlapped>(context, mesh, products, options);
    case SymmAlgorithm::cannon: return std::make_unique<SymmCannon>(context, mesh, products, options);
    case SymmAlgorithm::mirrored: break;
  }
  return std::make_unique<SymmMirrored>(context, mesh, products, options);
}

}  // namespace plait::dense
