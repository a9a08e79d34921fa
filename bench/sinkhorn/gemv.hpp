#pragma once

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// An iteration by the BLAS, as programs write it who have no kernel of their own: u = r / (K v), then v = c / (K' u),
/// all marginals 1. On one rank.
///
/// \pre  k is row-major; u, v and the contender's user outlive it
template <class T>
[[nodiscard]] Contender two_gemv(matrix_view<const T> k, T* u, T* v);

}  // namespace plait::bench
