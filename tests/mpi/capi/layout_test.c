#include <string.h>

#include "mpi/capi/check.h"

// ScaLAPACK's formulas, one dimension at a time.
static plait_index position_of(plait_index i, plait_index block, plait_index first, plait_index positions) {
  return (i / block + first) % positions;
}
static plait_index local_of(plait_index i, plait_index block, plait_index positions) {
  return i / (block * positions) * block + i % block;
}

static void check_placement(const plait_block_cyclic* its, const plait_layout* layout) {
  for (plait_index i = 0; i < its->rows; ++i) {
    for (plait_index j = 0; j < its->columns; ++j) {
      const plait_index row = position_of(i, its->block_rows, its->first_row, its->grid_rows);
      const plait_index column = position_of(j, its->block_columns, its->first_column, its->grid_columns);
      int expected = its->grid_order == PLAIT_GRID_BY_ROWS ? (int)(row * its->grid_columns + column)
                                                           : (int)(column * its->grid_rows + row);
      expected += its->first_rank;
      if (its->ranks != NULL) expected = its->ranks[row * its->grid_columns + column];
      int owner = -1;
      SUCCEEDS(plait_layout_owner(layout, i, j, &owner));
      CHECK(owner == expected);

      plait_index at_row = -1;
      plait_index at_column = -1;
      SUCCEEDS(plait_layout_place(layout, row, column, local_of(i, its->block_rows, its->grid_rows),
                                  local_of(j, its->block_columns, its->grid_columns), &at_row, &at_column));
      CHECK(at_row == i && at_column == j);
    }
  }
}

void layouts_place_every_element_as_the_formula_says(void) {
  const int ranks[6] = {7, 3, 0, 5, 2, 4};
  const int several_positions[6] = {0, 0, 1, 1, 0, 1};
  plait_block_cyclic description = {.rows = 17,
                                    .columns = 23,
                                    .block_rows = 3,
                                    .block_columns = 4,
                                    .grid_rows = 2,
                                    .grid_columns = 3,
                                    .first_row = 1,
                                    .first_column = 2};
  plait_layout* layout = NULL;
  for (int variant = 0; variant < 4; ++variant) {
    description.grid_order = variant == 1 ? PLAIT_GRID_BY_COLUMNS : PLAIT_GRID_BY_ROWS;
    description.first_rank = variant == 1 ? 4 : 0;
    description.ranks = variant == 2 ? ranks : variant == 3 ? several_positions : NULL;
    SUCCEEDS(plait_layout_create_block_cyclic(&description, &layout));
    check_placement(&description, layout);
    int needed = 0;
    SUCCEEDS(plait_layout_ranks(layout, &needed));
    CHECK(needed == (variant == 0 ? 6 : variant == 1 ? 10 : variant == 2 ? 8 : 2));
    plait_index tiles = 0;
    SUCCEEDS(plait_layout_tiles(layout, 0, 0, NULL, &tiles));
    CHECK(tiles == (variant == 1 ? 0 : variant == 3 ? 3 : 1));
    SUCCEEDS(plait_layout_free(&layout));
  }
}

void custom_layouts_and_parts_of_layouts_have_their_tiles(void) {
  const plait_index row_splits[3] = {0, 4, 10};
  const plait_index column_splits[4] = {0, 1, 1, 6};
  const int owners[6] = {0, 1, 0, 2, 0, 0};
  plait_layout* custom = NULL;
  SUCCEEDS(plait_layout_create_custom(2, row_splits, 3, column_splits, owners, PLAIT_ROW_MAJOR, &custom));
  plait_index count = 0;
  plait_tile_extent tiles[4];
  SUCCEEDS(plait_layout_tiles(custom, 0, 0, NULL, &count));
  CHECK(count == 4);
  SUCCEEDS(plait_layout_tiles(custom, 0, 4, tiles, &count));
  CHECK(tiles[1].row == 0 && tiles[1].column == 2 && tiles[1].rows == 4 && tiles[1].columns == 5);
  CHECK(tiles[2].row == 1 && tiles[2].column == 1 && tiles[2].rows == 6 && tiles[2].columns == 0);
  SUCCEEDS(plait_layout_tiles(custom, 9, 4, tiles, &count));
  CHECK(count == 0);
  plait_index rows = 0;
  plait_index columns = 0;
  SUCCEEDS(plait_layout_shape(custom, &rows, &columns));
  CHECK(rows == 10 && columns == 6);
  SUCCEEDS(plait_layout_place(custom, 1, 2, 5, 4, &rows, &columns));
  CHECK(rows == 9 && columns == 5);

  const int rank_of[3] = {2, 0, 1};
  plait_layout* relabeled = NULL;
  SUCCEEDS(plait_layout_create_relabeled(custom, rank_of, 3, &relabeled));
  int owner = -1;
  SUCCEEDS(plait_layout_owner(relabeled, 9, 0, &owner));
  CHECK(owner == 1);
  SUCCEEDS(plait_layout_free(&relabeled));
  SUCCEEDS(plait_layout_free(&custom));

  plait_layout* whole = layout_of("block-cyclic:4x4@2x2", 32, 32);
  plait_layout* part = NULL;
  SUCCEEDS(plait_layout_create_submatrix(whole, 5, 9, 20, 3, &part));
  // Rank 0 holds rows 0-3, 8-11, 16-19, 24-27 and columns 0-3, 8-11... of the whole.
  SUCCEEDS(plait_layout_tiles(part, 0, 4, tiles, &count));
  CHECK(count == 1 && tiles[0].rows == 9 && tiles[0].columns == 3);
  CHECK(tiles[0].row_offset == 4 && tiles[0].column_offset == 5);
  SUCCEEDS(plait_layout_free(&part));
  SUCCEEDS(plait_layout_free(&whole));
}

void layouts_that_cannot_be_are_explained(void) {
  plait_layout* layout = NULL;
  FAILS(plait_layout_create_from_text("rows@0", 4, 4, &layout), PLAIT_ERROR_LAYOUT, "rows@0");
  CHECK(layout == NULL);
  FAILS(plait_layout_create_from_text("custom:tiles.json", 4, 4, &layout), PLAIT_ERROR_LAYOUT, "names a file");
  FAILS(plait_layout_create_from_text(NULL, 4, 4, &layout), PLAIT_ERROR_ARGUMENT, "text: is NULL");
  FAILS(plait_layout_create_from_text("rows@2", 4, 4, NULL), PLAIT_ERROR_ARGUMENT, "layout: is NULL");

  plait_block_cyclic description = {
      .rows = 9, .columns = 9, .block_rows = 0, .block_columns = 1, .grid_rows = 1, .grid_columns = 1};
  FAILS(plait_layout_create_block_cyclic(&description, &layout), PLAIT_ERROR_LAYOUT,
        "block_rows: is 0, expected at least 1");
  description.block_rows = 1;
  description.rows = -1;
  FAILS(plait_layout_create_block_cyclic(&description, &layout), PLAIT_ERROR_LAYOUT, "rows: is -1");
  description.rows = 9;
  description.first_column = 1;
  FAILS(plait_layout_create_block_cyclic(&description, &layout), PLAIT_ERROR_LAYOUT,
        "first_column: is 1, expected at least 0 and less than 1");
  description.first_column = 0;
  description.grid_order = 7;
  FAILS(plait_layout_create_block_cyclic(&description, &layout), PLAIT_ERROR_ARGUMENT, "grid_order: is 7");
  description.grid_order = PLAIT_GRID_BY_ROWS;
  description.storage = -1;
  FAILS(plait_layout_create_block_cyclic(&description, &layout), PLAIT_ERROR_ARGUMENT, "storage: is -1");
  FAILS(plait_layout_create_block_cyclic(NULL, &layout), PLAIT_ERROR_ARGUMENT,
        "description: is NULL, expected a plait");

  const plait_index splits[3] = {0, 5, 4};
  const int owners[4] = {0, 0, 0, -3};
  FAILS(plait_layout_create_custom(2, splits, 1, splits, owners, PLAIT_ROW_MAJOR, &layout), PLAIT_ERROR_LAYOUT,
        "row_splits: split 2 is 4");
  FAILS(plait_layout_create_custom(1, splits, 1, splits, owners + 3, PLAIT_ROW_MAJOR, &layout), PLAIT_ERROR_LAYOUT,
        "owners[0]: is -3");
  FAILS(plait_layout_create_custom(0, splits, 1, splits, owners, PLAIT_ROW_MAJOR, &layout), PLAIT_ERROR_LAYOUT,
        "row_tiles: is 0");
  FAILS(plait_layout_create_custom(INT64_MAX, splits, 1, splits, owners, PLAIT_ROW_MAJOR, &layout), PLAIT_ERROR_LAYOUT,
        "row_tiles and column_tiles: are 9223372036854775807 and 1");
  FAILS(plait_layout_create_custom(1, NULL, 1, splits, owners, PLAIT_ROW_MAJOR, &layout), PLAIT_ERROR_ARGUMENT,
        "row_splits: is NULL, expected 2 entries");
  CHECK(layout == NULL);

  int ranks = 0;
  layout = layout_of("rows@{P}", 8, 8);
  FAILS(plait_layout_ranks((const plait_layout*)(const void*)context, &ranks), PLAIT_ERROR_ARGUMENT,
        "layout: is no handle of a layout");
  FAILS(plait_layout_owner(layout, 8, 0, &ranks), PLAIT_ERROR_ARGUMENT, "row: is 8");
  plait_index row = 0;
  FAILS(plait_layout_place(layout, 0, 1, 0, 0, &row, &row), PLAIT_ERROR_ARGUMENT, "tile_column: is 1");
  FAILS(plait_layout_place(layout, 0, 0, 0, 8, &row, &row), PLAIT_ERROR_ARGUMENT, "local_column: is 8");
  FAILS(plait_layout_tiles(layout, -1, 0, NULL, NULL), PLAIT_ERROR_ARGUMENT, "rank: is -1");
  plait_layout* part = NULL;
  FAILS(plait_layout_create_submatrix(layout, 4, 4, 5, 1, &part), PLAIT_ERROR_ARGUMENT, "8");
  FAILS(plait_layout_create_relabeled(layout, &ranks, 0, &part), PLAIT_ERROR_LAYOUT, "count: is 0");
  CHECK(part == NULL);
  SUCCEEDS(plait_layout_free(&layout));
}
