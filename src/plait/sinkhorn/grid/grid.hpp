#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/process_grid.hpp"
#include "plait/layout/shape.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

/// What an iteration is predicted to take on a grid, in seconds: the block is read once, twice where there are several
/// columns, as the sums of rows have to be there before it is added to those of the columns; M / rows sums go through
/// each row of the grid, and N / columns through each column, where all columns of ranks that share nodes share links.
[[nodiscard]] double seconds_on(const layout::ProcessGrid& grid, const model::Machine& machine,
                                const model::Placement& placement, layout::Shape shape, Index element_bytes,
                                Index number_bytes);

/// The grid that takes least, numbered by rows, so that rows of ranks are on one node where that has as many. A
/// function of its arguments alone; of grids that take as long, the one with the fewest columns.
[[nodiscard]] layout::ProcessGrid choose_grid(const model::Machine& machine, const model::Placement& placement,
                                              layout::Shape shape, Index element_bytes, Index number_bytes);

/// Where a rank's block of a matrix on a grid lies: of nearly equal extents, as `layout::Layout::blocks` cuts them. A
/// grid of one column is the distribution by rows.
struct BlockPlace {
  Index first_row = 0;
  Index rows = 0;
  Index first_column = 0;
  Index columns = 0;
};

[[nodiscard]] BlockPlace block_place(const layout::ProcessGrid& grid, layout::Shape shape, int rank);

/// As `scale`, of a matrix that is cut into blocks, one for each rank of a process grid. An iteration has three
/// messages: M / grid.rows sums among the ranks of a row of the grid, N / grid.columns among those of a column, and the
/// errors of their columns among those of a row, through shared memory where these are on one node. So it sends less
/// than a distribution by rows, which a grid of one column is, but reads the matrix twice. All grids go the same way,
/// up to rounding.
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
