#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals.hpp"

namespace plait::sinkhorn {

/// K(i, j) ← u[i] K(i, j) v[j]: the plan in the place of the matrix. Local.
///
/// \pre  rows is row-major; u has a factor for each of its rows, v for each column
template <class T, class A>
void plan_in_place(matrix_view<T> rows, std::span<const A> u, std::span<const A> v);

/// What the marginals of a plan are off by: Σ |sum - marginal| / Σ marginals.
struct MarginalErrors {
  double rows = 0;
  double columns = 0;
  double mass = 0;  // the sum of the plan
};

/// Sums the plan up, in double, whatever it was computed with. Collective over `context`.
template <class T>
[[nodiscard]] MarginalErrors marginal_errors(mpi::Context& context, matrix_view<const T> plan,
                                             const CheckedMarginals& marginals);

}  // namespace plait::sinkhorn
