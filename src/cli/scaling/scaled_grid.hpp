#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/collective/calls.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/sinkhorn/grid/grid_check.hpp"
#include "plait/sinkhorn/grid/grid_scale.hpp"
#include "plait/sinkhorn/scaling/plan.hpp"

#include "cli/scaling/scaled_matrix.hpp"

namespace plait::cli {

/// The blocks of the matrix in a file, where what is scaled, which may be its transpose, lies on a grid.
[[nodiscard]] inline layout::Layout blocks_of_file(layout::Shape file, const sinkhorn::Grid& grid, bool is_transposed) {
  using layout::GridOrder;
  const GridOrder other = grid.order == GridOrder::row ? GridOrder::column : GridOrder::row;
  return is_transposed ? layout::Layout::blocks(file, grid.columns, grid.rows, other, StorageOrder::column_major)
                       : layout::Layout::blocks(file, grid.rows, grid.columns, grid.order, StorageOrder::row_major);
}

/// All of a vector of which the ranks whose `is_named` hold parts that don't overlap. Collective over `context`.
template <class A>
[[nodiscard]] std::vector<A> joined(mpi::Context& context, const std::vector<A>& part, Index first, bool is_named,
                                    Index length) {
  auto all = mpi::agreed(context, [&] { return std::vector<A>(static_cast<std::size_t>(length)); });
  if (is_named) std::ranges::copy(part, all.begin() + static_cast<std::ptrdiff_t>(first));
  collective::allreduce(context, std::span<A>(all), simd::ReduceOperation::sum);
  return all;
}

/// Scales a matrix on a grid: its blocks go to their ranks, and come back as the plan. Collective over `context`.
///
/// \param grid       of what is scaled
/// \param marginals  of all its rows and columns
/// \return           the factors of this rank's rows, and of all columns
template <class T, class A>
[[nodiscard]] sinkhorn::Scaling<A> plan_on_grid(mpi::Context& context, const sinkhorn::Grid& grid,
                                                ScaledMatrix<T>& matrix, const sinkhorn::Marginals& marginals,
                                                const sinkhorn::Limits& limits, std::span<const A> start) {
  auto& slab = matrix.slab();
  const bool is_transposed = matrix.is_transposed();
  const layout::Shape file = slab.layout().shape();
  const layout::Shape shape = is_transposed ? layout::Shape{file.columns, file.rows} : file;
  auto blocks = mpi::agreed(context, [&] {
    sinkhorn::expect_grid_of(grid, context.size());
    return layout::DistributedMatrix<T>(blocks_of_file(file, grid, is_transposed), context.rank());
  });
  redistribute::Redistribution(context, slab.layout(), blocks.layout()).execute(slab, blocks);
  const auto& tile = blocks.tiles()[0];
  const matrix_view<T> block = is_transposed ? tile.transposed() : tile;
  auto scaling = sinkhorn::scale_on_grid<T, A>(context, grid, shape, block, marginals, limits, start);
  sinkhorn::plan_in_place<T, A>(block, scaling.u, scaling.v);
  redistribute::Redistribution(context, blocks.layout(), slab.layout()).execute(blocks, slab);

  const sinkhorn::BlockPlace place = sinkhorn::block_place(grid, shape, context.rank());
  const auto all_u = joined(context, scaling.u, place.first_row, grid.column_of(context.rank()) == 0, shape.rows);
  const Index own = matrix.rows().rows();
  const auto first = all_u.begin() + static_cast<std::ptrdiff_t>(mpi::sum_below(context.comm(), own));
  scaling.v = joined(context, scaling.v, place.first_column, grid.row_of(context.rank()) == 0, shape.columns);
  scaling.u.assign(first, first + static_cast<std::ptrdiff_t>(own));
  return scaling;
}

}  // namespace plait::cli
