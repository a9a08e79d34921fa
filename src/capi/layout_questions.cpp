#include <algorithm>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"

#include "capi/arguments.hpp"
#include "capi/error.hpp"
#include "capi/handle.hpp"
#include "capi/plait.h"

using namespace plait::capi;
using plait::Index;
using plait::layout::Layout;
using plait::layout::TileExtent;

namespace {

const Layout& layout_of(const plait_layout* layout) { return expect_handle(layout, "layout").layout; }

}  // namespace

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
