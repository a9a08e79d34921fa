#include "plait/layout/layout.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::layout {

namespace {

/// What `make` makes; says which axis it was if it can't be made.
template <class Make>
Axis axis_of(std::string_view what, Make&& make) {
  try {
    return make();
  } catch (const LayoutError& error) {
    throw LayoutError(fmt::format("the {} of the layout: {}", what, error.what()));
  }
}

Axis even_axis(std::string_view what, Index extent, Index parts) {
  return axis_of(what, [&] { return Axis::even(extent, parts); });
}

}  // namespace

Layout::Layout(Axis rows, Axis columns, Owners owners, StorageOrder storage)
    : rows_(std::move(rows)), columns_(std::move(columns)), owners_(std::move(owners)), storage_(storage) {
  if (rows_.parts() != owners_.rows() || columns_.parts() != owners_.columns()) {
    throw LayoutError(fmt::format("the axes have {} x {} parts and the owners {} x {} positions, expected the same",
                                  rows_.parts(), columns_.parts(), owners_.rows(), owners_.columns()));
  }
}

Layout Layout::block_cyclic(Shape shape, Index block_rows, Index block_columns, Owners grid, Index first_row_part,
                            Index first_column_part, StorageOrder storage) {
  Axis rows = axis_of("rows", [&] { return Axis::cyclic(shape.rows, block_rows, grid.rows(), first_row_part); });
  Axis columns =
      axis_of("columns", [&] { return Axis::cyclic(shape.columns, block_columns, grid.columns(), first_column_part); });
  return {std::move(rows), std::move(columns), std::move(grid), storage};
}

Layout Layout::rows(Shape shape, int ranks, StorageOrder storage) {
  return blocks(shape, ranks, 1, GridOrder::row, storage);
}

Layout Layout::columns(Shape shape, int ranks, StorageOrder storage) {
  return blocks(shape, 1, ranks, GridOrder::row, storage);
}

Layout Layout::blocks(Shape shape, Index grid_rows, Index grid_columns, GridOrder order, StorageOrder storage) {
  return {even_axis("rows", shape.rows, grid_rows), even_axis("columns", shape.columns, grid_columns),
          Owners::grid(grid_rows, grid_columns, order), storage};
}

Layout Layout::custom(std::vector<Index> row_splits, std::vector<Index> column_splits, std::vector<int> owners,
                      StorageOrder storage) {
  Axis rows = axis_of("rows", [&] { return Axis::cut(std::move(row_splits)); });
  Axis columns = axis_of("columns", [&] { return Axis::cut(std::move(column_splits)); });
  Owners table = Owners::listed(rows.parts(), columns.parts(), std::move(owners));
  return {std::move(rows), std::move(columns), std::move(table), storage};
}

int Layout::owner_of(Index row, Index column) const {
  return owners_.owner(rows_.part_of(row), columns_.part_of(column));
}

std::vector<TileExtent> Layout::tiles_of(int rank) const {
  const std::vector<TilePosition> positions = owners_.owned_by(rank);
  std::vector<TileExtent> tiles;
  tiles.reserve(positions.size());
  for (const TilePosition position : positions) {
    tiles.push_back({position, rows_.local_extent(position.row), columns_.local_extent(position.column)});
  }
  return tiles;
}

Index Layout::elements_of(int rank) const {
  Index sum = 0;
  for (const TileExtent& tile : tiles_of(rank)) {
    if (__builtin_add_overflow(sum, elements({tile.rows, tile.columns}), &sum)) {
      throw LayoutError(fmt::format("rank {} holds more elements than can be counted (2^63 - 1)", rank));
    }
  }
  return sum;
}

Layout Layout::submatrix(Index row, Index column, Shape shape) const {
  const Shape whole = this->shape();
  const bool inside = row >= 0 && column >= 0 && shape.rows >= 0 && shape.columns >= 0 && row <= whole.rows &&
                      column <= whole.columns && shape.rows <= whole.rows - row &&
                      shape.columns <= whole.columns - column;
  if (!inside) {
    throw ArgumentError(fmt::format("the submatrix is {} from ({}, {}) on, expected one inside of {}", to_string(shape),
                                    row, column, to_string(whole)));
  }
  return {rows_.sub(row, row + shape.rows), columns_.sub(column, column + shape.columns), owners_, storage_};
}

Layout Layout::transposed() const { return {columns_, rows_, owners_.transposed(), flipped(storage_)}; }

Layout Layout::relabeled(std::span<const int> ranks) const {
  return {rows_, columns_, owners_.relabeled(ranks), storage_};
}

}  // namespace plait::layout
