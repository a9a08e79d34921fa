#pragma once

#include <complex>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::test {

/// A whole square matrix, column-major, on each rank.
template <class T>
struct Whole {
  Index n = 0;
  std::vector<T> elements = std::vector<T>(static_cast<std::size_t>(n * n));

  T& operator()(Index i, Index j) { return elements[static_cast<std::size_t>(i + j * n)]; }
  const T& operator()(Index i, Index j) const { return elements[static_cast<std::size_t>(i + j * n)]; }
};

/// The Su-Schrieffer-Heeger chain of n sites: polyacetylene, whose bonds are alternately short and long.
Whole<double> polyacetylene(Index n, double short_bond = 1, double long_bond = 0.8);

/// rows × columns cells of graphene, two sites each, periodic, whose sites are alternately raised and lowered.
Whole<double> gapped_graphene(Index rows, Index columns, double raised = 0.5);

/// Hückel's Hamiltonian of the truncated icosahedron, -1 for each of its 90 edges.
Whole<double> c60();

/// These eigenvalues with eigenvectors from some reflections: full, and different for each seed.
template <class T>
Whole<T> prescribed(const std::vector<double>& eigenvalues, int seed = 1);

/// Evenly spaced eigenvalues in [0, 1], but for a gap above the lowest `occupied`.
std::vector<double> spectrum_with_gap(Index states, Index occupied, double gap);

}  // namespace plait::test
