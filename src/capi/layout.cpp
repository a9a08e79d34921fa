#include "plait/layout/layout.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"

#include "capi/handle.hpp"

using namespace plait::capi;
using plait::Index;
using plait::LayoutError;
using plait::layout::Axis;
using plait::layout::Layout;
using plait::layout::Owners;
using plait::layout::TileExtent;

namespace {

template <class T>
std::vector<T> copied(const T* array, Index count, const char* argument) {
  const auto entries = expect_array(array, count, argument);
  return {entries.begin(), entries.end()};
}

std::vector<int> copied_ranks(const int* array, Index count, const char* argument) {
  std::vector<int> ranks = copied(array, count, argument);
  constexpr int end = std::numeric_limits<int>::max();
  const auto wrong = std::find_if(ranks.begin(), ranks.end(), [](int rank) { return rank < 0 || rank >= end; });
  if (wrong != ranks.end()) {
    expect_below<LayoutError>(std::string(argument) + "[" + std::to_string(wrong - ranks.begin()) + "]", *wrong, end);
  }
  return ranks;
}

/// \return  their product
/// \throws LayoutError  if there are none, or more than the entries that an array can have
Index positions(const std::string& rows_argument, Index rows, const std::string& columns_argument, Index columns) {
  constexpr Index most = Index{1} << 59;
  expect_at_least<LayoutError>(rows_argument, rows, 1);
  expect_at_least<LayoutError>(columns_argument, columns, 1);
  if (rows > most / columns) {
    throw LayoutError(rows_argument + " and " + columns_argument + ": are " + std::to_string(rows) + " and " +
                      std::to_string(columns) + ", expected a product of at most 2^59");
  }
  return rows * columns;
}

Owners owners_of(const plait_block_cyclic& its) {
  const Index count = positions("grid_rows", its.grid_rows, "grid_columns", its.grid_columns);
  if (its.ranks != nullptr) {
    return Owners::listed(its.grid_rows, its.grid_columns, copied_ranks(its.ranks, count, "ranks"));
  }
  expect_at_least<LayoutError>("first_rank", its.first_rank, 0);
  return Owners::grid(its.grid_rows, its.grid_columns, grid_order(its.grid_order), its.first_rank);
}

Layout block_cyclic(const plait_block_cyclic& its) {
  expect_at_least<LayoutError>("rows", its.rows, 0);
  expect_at_least<LayoutError>("columns", its.columns, 0);
  expect_at_least<LayoutError>("block_rows", its.block_rows, 1);
  expect_at_least<LayoutError>("block_columns", its.block_columns, 1);
  Owners owners = owners_of(its);
  expect_below<LayoutError>("first_row", its.first_row, its.grid_rows);
  expect_below<LayoutError>("first_column", its.first_column, its.grid_columns);
  return Layout::block_cyclic({its.rows, its.columns}, its.block_rows, its.block_columns, std::move(owners),
                              its.first_row, its.first_column, storage_order(its.storage, "storage"));
}

Axis axis(const Index* given, Index tiles, const char* argument) {
  std::vector<Index> splits = copied(given, tiles + 1, argument);
  return named(argument, [&] { return Axis::cut(std::move(splits)); });
}

const Layout& layout_of(const plait_layout* layout) { return expect_handle(layout, "layout").layout; }

}  // namespace

int plait_layout_create_block_cyclic(const plait_block_cyclic* description, plait_layout** layout) {
  return create_layout(layout,
                       [&] { return block_cyclic(expect_input(description, "description", "a plait_block_cyclic")); });
}

int plait_layout_create_custom(plait_index row_tiles, const plait_index* row_splits, plait_index column_tiles,
                               const plait_index* column_splits, const int* owners, plait_order storage,
                               plait_layout** layout) {
  return create_layout(layout, [&] {
    const Index count = positions("row_tiles", row_tiles, "column_tiles", column_tiles);
    Axis rows = axis(row_splits, row_tiles, "row_splits");
    Axis columns = axis(column_splits, column_tiles, "column_splits");
    Owners ranks = Owners::listed(row_tiles, column_tiles, copied_ranks(owners, count, "owners"));
    return Layout(std::move(rows), std::move(columns), std::move(ranks), storage_order(storage, "storage"));
  });
}

int plait_layout_create_from_text(const char* text, plait_index rows, plait_index columns, plait_layout** layout) {
  return create_layout(layout, [&] {
    expect_input(text, "text", "a layout such as rows@4");
    expect_at_least<LayoutError>("rows", rows, 0);
    expect_at_least<LayoutError>("columns", columns, 0);
    return plait::layout::LayoutSpec::parse(text).on({rows, columns});
  });
}

int plait_layout_create_submatrix(const plait_layout* whole, plait_index row, plait_index column, plait_index rows,
                                  plait_index columns, plait_layout** layout) {
  return create_layout(layout,
                       [&] { return expect_handle(whole, "whole").layout.submatrix(row, column, {rows, columns}); });
}

int plait_layout_create_relabeled(const plait_layout* original, const int* rank_of, plait_index count,
                                  plait_layout** layout) {
  return create_layout(layout, [&] {
    const Layout& its = expect_handle(original, "original").layout;
    expect_at_least<LayoutError>("count", count, its.ranks());
    return its.relabeled(copied_ranks(rank_of, count, "rank_of"));
  });
}

int plait_layout_free(plait_layout** layout) { return free_handle(layout, "layout"); }

int plait_layout_shape(const plait_layout* layout, plait_index* rows, plait_index* columns) {
  return guarded([&] {
    const plait::layout::Shape shape = layout_of(layout).shape();
    Index& its_columns = expect_output(columns, "columns");
    expect_output(rows, "rows") = shape.rows;
    its_columns = shape.columns;
  });
}

int plait_layout_ranks(const plait_layout* layout, int* ranks) {
  return guarded([&] { expect_output(ranks, "ranks") = layout_of(layout).ranks(); });
}

int plait_layout_owner(const plait_layout* layout, plait_index row, plait_index column, int* rank) {
  return guarded([&] {
    const Layout& its = layout_of(layout);
    expect_below("row", row, its.shape().rows);
    expect_below("column", column, its.shape().columns);
    expect_output(rank, "rank") = its.owner_of(row, column);
  });
}

int plait_layout_tiles(const plait_layout* layout, int rank, plait_index capacity, plait_tile_extent* tiles,
                       plait_index* count) {
  return guarded([&] {
    const Layout& its = layout_of(layout);
    expect_at_least("rank", rank, 0);
    const auto result = expect_array(tiles, capacity, "tiles");
    Index& number = expect_output(count, "count");
    const std::vector<TileExtent> all = its.tiles_of(rank);
    for (std::size_t i = 0; i < std::min(result.size(), all.size()); ++i) {
      const auto& [position, rows, columns] = all[i];
      result[i] = {.row = position.row,
                   .column = position.column,
                   .rows = rows,
                   .columns = columns,
                   .row_offset = its.rows().skipped_before(position.row),
                   .column_offset = its.columns().skipped_before(position.column)};
    }
    number = static_cast<Index>(all.size());
  });
}

int plait_layout_place(const plait_layout* layout, plait_index tile_row, plait_index tile_column, plait_index local_row,
                       plait_index local_column, plait_index* row, plait_index* column) {
  return guarded([&] {
    const Layout& its = layout_of(layout);
    expect_below("tile_row", tile_row, its.rows().parts());
    expect_below("tile_column", tile_column, its.columns().parts());
    expect_below("local_row", local_row, its.rows().local_extent(tile_row));
    expect_below("local_column", local_column, its.columns().local_extent(tile_column));
    const Index global_row = its.rows().global_of(tile_row, local_row);
    const Index global_column = its.columns().global_of(tile_column, local_column);
    Index& its_column = expect_output(column, "column");
    expect_output(row, "row") = global_row;
    its_column = global_column;
  });
}
