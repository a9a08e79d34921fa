#pragma once

#include "plait/base/index.hpp"
#include "plait/layout/owners.hpp"
#include "plait/layout/shape.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

namespace plait::sinkhorn {

/// A process grid, of which each rank holds one block of the matrix: blocks of nearly equal extents, as
/// `layout::Layout::blocks` cuts them. One column is the distribution by rows.
struct Grid {
  int rows = 1;
  int columns = 1;
  layout::GridOrder order = layout::GridOrder::row;

  [[nodiscard]] int row_of(int rank) const noexcept {
    return order == layout::GridOrder::row ? rank / columns : rank % rows;
  }
  [[nodiscard]] int column_of(int rank) const noexcept {
    return order == layout::GridOrder::row ? rank % columns : rank / rows;
  }
  [[nodiscard]] int rank_of(int row, int column) const noexcept {
    return order == layout::GridOrder::row ? row * columns + column : column * rows + row;
  }
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// \throws ArgumentError  a grid that has not as many positions as there are ranks
void expect_grid_of(const Grid& grid, int ranks);

/// What an iteration is predicted to take on a grid, in seconds: the block is read once, twice where there are several
/// columns, as the sums of rows have to be there before it is added to those of the columns; M / rows sums go through
/// each row of the grid, and N / columns through each column, where all columns of ranks that share nodes share links.
[[nodiscard]] double seconds_on(const Grid& grid, const model::Machine& machine, const model::Placement& placement,
                                layout::Shape shape, Index element_bytes, Index number_bytes);

/// The grid that takes least, numbered by rows, so that rows of ranks are on one node where that has as many. A
/// function of its arguments alone; of grids that take as long, the one with the fewest columns.
[[nodiscard]] Grid choose_grid(const model::Machine& machine, const model::Placement& placement, layout::Shape shape,
                               Index element_bytes, Index number_bytes);

/// Where this rank's block of a matrix on a grid lies.
struct BlockPlace {
  Index first_row = 0;
  Index rows = 0;
  Index first_column = 0;
  Index columns = 0;
};

[[nodiscard]] BlockPlace block_place(const Grid& grid, layout::Shape shape, int rank);

}  // namespace plait::sinkhorn
