#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/graph/graph.hpp"
#include "plait/mpi/context.hpp"

/// Parts by the Laplacian  (L·x)_v = Σ over neighbours u: w_uv (x_v - x_u),  which is In·Inᵀ of the incidence matrix.
namespace plait::partition {

/// The second lowest eigenvalue of the Laplacian with its eigenvectors, orthogonal and of length 1: as many as belong
/// to it, to a hundredth, but at most three.
struct Fiedler {
  double value = 0;
  double residual = 0;  // the largest ‖L·x - value·x‖
  std::vector<std::vector<double>> vectors;

  /// What the edges between any `few` vertices and the others weigh at least: λ₂·a·(n - a)/n, which is ¼nλ₂ of halves.
  /// The residual is taken off.
  [[nodiscard]] double least_cut(Index few, Index vertices) const;
};

/// By Lanczos, with the same bits for any number of ranks, which share rows. Collective over the context; each rank
/// sees the whole graph.
/// \pre  the graph is connected and has two vertices at least
[[nodiscard]] Fiedler fiedler(mpi::Context& context, const graph::GraphView& graph, std::uint64_t seed);

/// Parts by bisection after bisection at the weighted median of a Fiedler vector: where several belong to λ₂, of the
/// one among their combinations that cuts least. Of a graph of several components that of the component is taken in
/// which the median is, when they are laid side by side. Collective, as above.
/// \pre  1 <= parts <= vertices
/// Source: Fiedler, 1973; Pothen, Simon, Liou, "Partitioning sparse matrices with eigenvectors of graphs", 1990.
/// \return the parts, and λ₂ of the whole graph without vectors: 0, if there are several components
[[nodiscard]] std::pair<std::vector<int>, Fiedler> spectral(mpi::Context& context, const graph::GraphView& graph,
                                                            int parts, std::uint64_t seed);

}  // namespace plait::partition
