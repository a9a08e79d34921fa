#include "plait/dense/symm/symm_mesh.hpp"

#include <limits>

#include "plait/base/contract.hpp"

namespace plait::dense {

SymmMesh::SymmMesh(Index n, int edge, int layers) : n_(n), edge_(edge), layers_(layers) {
  PLAIT_ASSERT(n >= 0 && edge >= 1 && layers >= 1, "a mesh has ranks");
  PLAIT_ASSERT(Index{edge} * edge <= std::numeric_limits<int>::max() / layers, "an int can count the ranks");
}

int SymmMesh::largest_cube(int ranks) noexcept {
  int edge = 1;
  while (Index{edge + 1} * (edge + 1) * (edge + 1) <= ranks) ++edge;
  return edge;
}

int SymmMesh::largest_edge(int ranks, int layers) noexcept {
  int edge = 1;
  while (Index{edge + 1} * (edge + 1) * layers <= ranks) ++edge;
  return edge;
}

std::vector<int> SymmMesh::along_i(int j, int k) const {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(edge_));
  for (int i = 0; i < edge_; ++i) ranks.push_back(rank(i, j, k));
  return ranks;
}

std::vector<int> SymmMesh::along_j(int i, int k) const {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(edge_));
  for (int j = 0; j < edge_; ++j) ranks.push_back(rank(i, j, k));
  return ranks;
}

std::vector<int> SymmMesh::along_k(int i, int j) const {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(layers_));
  for (int k = 0; k < layers_; ++k) ranks.push_back(rank(i, j, k));
  return ranks;
}

layout::Layout SymmMesh::layout() const {
  return layout::Layout::blocks({n_, n_}, edge_, edge_, layout::GridOrder::column, StorageOrder::column_major);
}

}  // namespace plait::dense
