#include "plait/sinkhorn/grid/grid.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/layout/axis.hpp"
#include "plait/model/choice.hpp"

namespace plait::sinkhorn {

namespace {

/// Of an allreduce of `bytes` by groups of so many ranks, as many of each on a node, while `groups` of them share the
/// links of a node.
double allreduce_seconds(const model::Machine& machine, int ranks, int ranks_per_node, int groups, Index bytes) {
  if (ranks == 1 || bytes == 0) return 0;
  const model::Placement placement{ranks, ranks_per_node};
  const Index shared = placement.nodes() > 1 ? bytes * groups : bytes;
  return model::choose<model::AllreduceAlgorithm>(machine, placement, shared).seconds;
}

Index divided(Index number, int parts) { return (number + parts - 1) / parts; }

/// Where part `part` of an even axis begins; of one that is empty, anywhere inside.
Index begin_of(const layout::Axis& axis, Index part) {
  return axis.local_extent(part) == 0 ? 0 : axis.global_of(part, 0);
}

}  // namespace

void expect_grid_of(const layout::ProcessGrid& grid, int ranks) {
  if (grid.rows >= 1 && grid.columns >= 1 && grid.layers == 1 && grid.ranks() == ranks) return;
  throw ArgumentError(
      fmt::format("a grid of {} x {} ranks, expected rows x columns = {}", grid.rows, grid.columns, ranks));
}

double seconds_on(const layout::ProcessGrid& grid, const model::Machine& machine, const model::Placement& placement,
                  layout::Shape shape, Index element_bytes, Index number_bytes) {
  const Index rows = divided(shape.rows, grid.rows);
  const Index columns = divided(shape.columns, grid.columns);
  const int on_node = std::min(placement.ranks_per_node, placement.ranks);
  const double reads = grid.columns > 1 ? 2 : 1;
  const double read = reads * static_cast<double>(rows) * static_cast<double>(columns) *
                      static_cast<double>(element_bytes) * on_node / machine.read_bytes_per_second;
  // Ranks that follow each other share a node: as many of one row (column) of the grid, and of as many of these.
  const bool by_rows = grid.order == layout::GridOrder::row;
  const int near = std::min(on_node, by_rows ? grid.columns : grid.rows);
  const int far = std::max(1, on_node / near);
  const int of_row = by_rows ? near : std::min(far, grid.columns);
  const int of_column = by_rows ? std::min(far, grid.rows) : near;
  return read + allreduce_seconds(machine, grid.columns, of_row, of_column, rows * number_bytes) +
         allreduce_seconds(machine, grid.rows, of_column, of_row, columns * number_bytes);
}

layout::ProcessGrid choose_grid(const model::Machine& machine, const model::Placement& placement, layout::Shape shape,
                                Index element_bytes, Index number_bytes) {
  layout::ProcessGrid best{placement.ranks, 1};
  double least = seconds_on(best, machine, placement, shape, element_bytes, number_bytes);
  for (int columns = 2; columns <= placement.ranks; ++columns) {
    if (placement.ranks % columns != 0) continue;
    const layout::ProcessGrid grid{placement.ranks / columns, columns};
    const double seconds = seconds_on(grid, machine, placement, shape, element_bytes, number_bytes);
    if (seconds >= 0.99 * least) continue;
    best = grid;
    least = seconds;
  }
  return best;
}

BlockPlace block_place(const layout::ProcessGrid& grid, layout::Shape shape, int rank) {
  const auto rows = layout::Axis::even(shape.rows, grid.rows);
  const auto columns = layout::Axis::even(shape.columns, grid.columns);
  const int row = grid.row_of(rank);
  const int column = grid.column_of(rank);
  return {begin_of(rows, row), rows.local_extent(row), begin_of(columns, column), columns.local_extent(column)};
}

}  // namespace plait::sinkhorn
