#pragma once

#include <span>

#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/plan.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

/// Scaling of sparse matrices.
namespace plait::sinkhorn {

/// `scale` of a sparse matrix: an iteration passes once through the entries of each row. T and A: double, float, float
/// as double.
///
/// Where the error falls slowly, it is decided once whether the marginals can be had at all: see `SparseSupport`. The
/// status is then no_support or infeasible_marginals; where there is support, but no total support, and the limit of
/// iterations is reached, the reason says which entry has to vanish.
///
/// Collective over `context`.
///
/// \throws ArgumentError  on all ranks: as `scale`
template <class T, class A>
[[nodiscard]] Scaling<A> scale(mpi::Context& context, const layout::SparseRows<T>& rows, const Marginals& marginals,
                               const Limits& limits = {}, std::span<const A> start = {});

/// K(i, j) ← u[i] K(i, j) v[j]. Local.
template <class T, class A>
void plan_in_place(layout::SparseRows<T>& rows, std::span<const A> u, std::span<const A> v);

/// See the one of dense plans. Collective over `context`.
template <class T>
[[nodiscard]] MarginalErrors marginal_errors(mpi::Context& context, const layout::SparseRows<T>& plan,
                                             const CheckedMarginals& marginals);

}  // namespace plait::sinkhorn
