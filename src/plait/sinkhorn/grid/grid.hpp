#pragma once

#include "plait/base/index.hpp"
#include "plait/layout/process_grid.hpp"
#include "plait/layout/shape.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

namespace plait::sinkhorn {

/// \throws ArgumentError  a grid that has not as many positions as there are ranks, or several layers
void expect_grid_of(const layout::ProcessGrid& grid, int ranks);

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

}  // namespace plait::sinkhorn
