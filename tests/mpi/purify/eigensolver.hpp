#pragma once

#include <vector>

#include "mpi/purify/hamiltonians.hpp"

namespace plait::test {

/// All eigenvalues, increasing, and eigenvectors, by LAPACK.
template <class T>
struct Eigenstates {
  std::vector<double> values;
  Whole<T> vectors;
};
template <class T>
Eigenstates<T> eigenstates(Whole<T> matrix);
/// The same of H c = e S c.
template <class T>
Eigenstates<T> eigenstates(Whole<T> h, Whole<T> s);

/// Σ weight(k) c_k c_kᴴ over the `occupied` lowest states.
template <class T>
Whole<T> density_of(const Eigenstates<T>& states, Index occupied, bool by_energy = false);

}  // namespace plait::test
