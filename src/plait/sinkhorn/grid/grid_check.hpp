#pragma once

#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/grid/grid.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// Where this rank's block of a matrix on a grid lies.
struct BlockPlace {
  Index first_row = 0;
  Index rows = 0;
  Index first_column = 0;
  Index columns = 0;
};

[[nodiscard]] BlockPlace block_place(const Grid& grid, layout::Shape shape, int rank);

/// As `checked_marginals`, of marginals of all rows and columns. Collective over `context`.
///
/// \pre     there is none for rows, or one for each
/// \return  those of this rank's block's rows, and of all columns
[[nodiscard]] CheckedMarginals checked_grid_marginals(mpi::Context& context, const Grid& grid, layout::Shape shape,
                                                      const Marginals& marginals);

/// As `check_matrix`. Collective over `context`, and over those of this rank's row and column of the grid.
///
/// \throws ArgumentError  on all ranks: an entry that is negative, infinite or no number, a row or column of zeros of
///                        which the marginal is not 0
template <class T>
void check_block(mpi::Context& context, mpi::Context& row, mpi::Context& column, const BlockPlace& place,
                 matrix_view<const T> block, const CheckedMarginals& marginals);

}  // namespace plait::sinkhorn
