#pragma once

#include <span>

#include "plait/base/matrix_view.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/grid/grid.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

/// As `scale`, of a matrix that is cut into blocks, one for each rank of a process grid. An iteration has three
/// messages: M / grid.rows sums among the ranks of a row of the grid, N / grid.columns among those of a column, and the
/// error, a few digits, among those of a row, through shared memory where these are on one node. So it sends less than
/// a distribution by rows, which a grid of one column is, but reads the matrix twice. All grids go the same way, up to
/// rounding.
///
/// Collective over `context`; makes a context for each row and column of the grid, which takes some communication.
///
/// \param shape      of the matrix
/// \param block      of this rank: row-major, rows `Axis::even(M, grid.rows)` and columns `Axis::even(N, grid.columns)`
/// \param marginals  of all rows and all columns, the same on all ranks
/// \param start      factors of all columns to begin with; empty: ones
/// \return           the factors of the block's rows and of its columns
/// \throws ArgumentError  on all ranks: as `scale`; a grid of more or fewer ranks, a block of another shape
template <class T, class A>
[[nodiscard]] Scaling<A> scale_on_grid(mpi::Context& context, const layout::ProcessGrid& grid, layout::Shape shape,
                                       matrix_view<const T> block, const Marginals& marginals,
                                       const Limits& limits = {}, std::span<const A> start = {});

}  // namespace plait::sinkhorn
