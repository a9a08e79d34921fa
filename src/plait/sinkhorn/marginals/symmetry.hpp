#pragma once

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// Entries that should be one may differ by this, relative to the larger one: they may have been computed.
inline constexpr double symmetry_tolerance = 1e-6;

/// Compares a matrix with its transpose, of which pieces go round between the ranks. Collective over `context`.
///
/// \pre  the matrix is square and row-major
/// \throws ArgumentError  on all ranks: two entries that should be one differ, or one of them alone is infinite
template <class T>
void expect_symmetric(mpi::Context& context, matrix_view<const T> rows, const AxisNames& names = {});

/// The same of a sparse matrix of which both triangles are stored: entries go to the ranks that have their mirror
/// images, a bounded number at a time.
template <class T>
void expect_symmetric(mpi::Context& context, const layout::SparseRows<T>& rows);

}  // namespace plait::sinkhorn
