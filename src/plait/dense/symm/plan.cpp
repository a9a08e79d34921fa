#include "plait/dense/symm/plan.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/stream.hpp"

namespace plait::dense::symm {

namespace {

// Of Algorithm 6: the layers with which most ranks take part, as many as these can be.
int most_useful_layers(int ranks, const Options& options) {
  const auto used = [&](int layers) {
    const int edge = options.edge.value_or(Grid::largest_edge(ranks, layers));
    return layers <= edge && Index{edge} * edge * layers <= ranks ? edge * edge * layers : 0;
  };
  int best = 1;
  for (int layers = 2; layers <= Grid::largest_cube(ranks); ++layers)
    if (used(layers) >= used(best)) best = layers;
  return best;
}

Algorithm better_algorithm(int ranks) {
  const Index cube = Grid::largest_cube(ranks);
  const int layers = most_useful_layers(ranks, {});
  const Index edge = Grid::largest_edge(ranks, layers);
  return edge * edge * layers > 2 * cube * cube * cube ? Algorithm::cannon : Algorithm::mirrored;
}

}  // namespace

Options complete(int ranks, Index n, Options options) {
  expect_at_least("n", n, 0);
  collective::expect_strands(options.strands.value_or(1));
  expect_at_least("segment_bytes", options.segment_bytes.value_or(1), 1);
  expect_at_least("edge", options.edge.value_or(1), 1);
  expect_at_least("layers", options.layers.value_or(1), 1);
  static_cast<void>(layout::elements({n, n}));  // an Index can count them
  if (!options.algorithm) options.algorithm = better_algorithm(ranks);
  const bool is_cube = options.algorithm != Algorithm::cannon;
  if (is_cube) {
    if (!options.edge) options.edge = Grid::largest_cube(ranks);
    options.layers = options.edge;
  } else {
    if (!options.layers) options.layers = most_useful_layers(ranks, options);
    if (!options.edge) options.edge = Grid::largest_edge(ranks, *options.layers);
  }
  if (*options.layers > *options.edge) {
    throw ArgumentError(fmt::format("layers: {}, expected at most the mesh's edge, {} on {} ranks", *options.layers,
                                    *options.edge, ranks));
  }
  const int most = is_cube ? Grid::largest_cube(ranks) : Grid::largest_edge(ranks, *options.layers);
  if (*options.edge > most || Index{most} * most * *options.layers > ranks) {
    throw ArgumentError(fmt::format("edge: {}, expected at most {}, for a mesh of edge x edge x {} of {} ranks",
                                    *options.edge, most, is_cube ? "edge" : std::to_string(*options.layers), ranks));
  }
  return options;
}

Grid grid_of(Index n, const Options& options) { return {n, *options.edge, *options.layers}; }

std::unique_ptr<Plan> make_plan(mpi::Context& context, Index n, const Products& products, const Options& options) {
  const Grid mesh = grid_of(n, options);
  switch (*options.algorithm) {
    case Algorithm::original:
    case Algorithm::baseline: return make_blocking(context, mesh, products, options);
    case Algorithm::overlapped: return make_overlapped(context, mesh, products, options);
    case Algorithm::cannon: return make_cannon(context, mesh, products, options);
    case Algorithm::mirrored: break;
  }
  return make_mirrored(context, mesh, products, options);
}

}  // namespace plait::dense::symm
