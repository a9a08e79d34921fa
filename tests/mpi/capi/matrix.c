#include "mpi/capi/matrix.h"

#include <stdint.h>
#include <stdlib.h>

enum { gap = 2 };
static const double nonsense = -7e77;

int next_below(int end) {
  static uint64_t state = 2026;
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (int)((state >> 33) % (uint64_t)end);
}

static plait_layout* next_block_cyclic(plait_index rows, plait_index columns) {
  const int grid_rows = 1 + next_below(all_ranks);
  const int grid_columns = 1 + next_below(all_ranks / grid_rows);
  const plait_block_cyclic description = {.rows = rows,
                                          .columns = columns,
                                          .block_rows = 1 + next_below(4),
                                          .block_columns = 1 + next_below(4),
                                          .grid_rows = grid_rows,
                                          .grid_columns = grid_columns,
                                          .first_row = next_below(grid_rows),
                                          .first_column = next_below(grid_columns),
                                          .grid_order = next_below(2),
                                          .first_rank = next_below(all_ranks - grid_rows * grid_columns + 1)};
  plait_layout* layout = NULL;
  SUCCEEDS(plait_layout_create_block_cyclic(&description, &layout));
  return layout;
}

static plait_layout* next_custom(plait_index rows, plait_index columns) {
  const plait_index row_splits[4] = {0, rows / 4, rows / 2, rows};
  const plait_index column_splits[3] = {0, next_below((int)columns + 1), columns};
  int owners[6];
  for (int i = 0; i < 6; ++i) owners[i] = next_below(all_ranks);
  plait_layout* layout = NULL;
  SUCCEEDS(plait_layout_create_custom(3, row_splits, 2, column_splits, owners, PLAIT_COLUMN_MAJOR, &layout));
  return layout;
}

plait_layout* next_layout(plait_index rows, plait_index columns) {
  switch (next_below(5)) {
    case 0: return layout_of("rows@{P}", rows, columns);
    case 1: return layout_of("cols@{P}", rows, columns);
    case 2: return layout_of("blocks@1x{P}", rows, columns);
    case 3: return next_custom(rows, columns);
    default: return next_block_cyclic(rows, columns);
  }
}

/// Place k of a tile's memory, in doubles.
static double* place(const Matrix* matrix, plait_index tile, plait_index k) {
  return (double*)matrix->targets[tile].data + k * (matrix->type == PLAIT_DOUBLE ? 1 : 2);
}

Matrix matrix_in(plait_layout* layout, plait_type type) {
  Matrix matrix = {.layout = layout, .type = type};
  SUCCEEDS(plait_layout_tiles(layout, this_rank, 0, NULL, &matrix.count));
  matrix.extents = malloc((size_t)(matrix.count + 1) * sizeof *matrix.extents);
  matrix.sources = malloc((size_t)(matrix.count + 1) * sizeof *matrix.sources);
  matrix.targets = malloc((size_t)(matrix.count + 1) * sizeof *matrix.targets);
  SUCCEEDS(plait_layout_tiles(layout, this_rank, matrix.count, matrix.extents, &matrix.count));
  for (plait_index t = 0; t < matrix.count; ++t) {
    const plait_tile_extent* extent = &matrix.extents[t];
    const plait_order order = (int)((extent->rows + t) % 2);
    const plait_index minor = order == PLAIT_COLUMN_MAJOR ? extent->rows : extent->columns;
    const plait_index places = (minor + gap) * (order == PLAIT_COLUMN_MAJOR ? extent->columns : extent->rows) + 1;
    double* memory = malloc((size_t)places * 2 * sizeof *memory);
    for (plait_index k = 0; k < 2 * places; ++k) memory[k] = nonsense;
    matrix.sources[t] = (plait_source_tile){memory, minor + gap, order};
    matrix.targets[t] = (plait_target_tile){memory, minor + gap, order};
  }
  return matrix;
}

void free_matrix(Matrix* matrix) {
  for (plait_index t = 0; t < matrix->count; ++t) free(matrix->targets[t].data);
  free(matrix->extents);
  free(matrix->sources);
  free(matrix->targets);
  SUCCEEDS(plait_layout_free(&matrix->layout));
}

/// Calls f for all elements and gaps: with the element's place in the matrix, or for gaps with -1.
static void for_each(const Matrix* matrix, void (*f)(double*, plait_type, plait_index, plait_index, void*),
                     void* data) {
  for (plait_index t = 0; t < matrix->count; ++t) {
    const plait_tile_extent* extent = &matrix->extents[t];
    const int by_columns = matrix->targets[t].order == PLAIT_COLUMN_MAJOR;
    const plait_index minor = by_columns ? extent->rows : extent->columns;
    const plait_index major = by_columns ? extent->columns : extent->rows;
    for (plait_index j = 0; j < major; ++j) {
      for (plait_index i = 0; i < minor + gap; ++i) {
        plait_index row = -1;
        plait_index column = -1;
        if (i < minor) {
          SUCCEEDS(plait_layout_place(matrix->layout, extent->row, extent->column, by_columns ? i : j,
                                      by_columns ? j : i, &row, &column));
        }
        f(place(matrix, t, i + j * (minor + gap)), matrix->type, row, column, data);
      }
    }
  }
}

typedef struct Comparison {
  Element element;
  double tolerance;
  int wrong;
} Comparison;

static void set(double* at, plait_type type, plait_index row, plait_index column, void* data) {
  if (row < 0) return;
  const double complex value = ((const Comparison*)data)->element(row, column);
  at[0] = creal(value);
  if (type == PLAIT_COMPLEX_DOUBLE) at[1] = cimag(value);
}

static void compare(double* at, plait_type type, plait_index row, plait_index column, void* data) {
  Comparison* its = data;
  const double complex found = type == PLAIT_COMPLEX_DOUBLE ? at[0] + at[1] * I : at[0];
  if (row < 0) {
    its->wrong += at[0] != nonsense;
  } else {
    its->wrong += !(cabs(found - its->element(row, column)) <= its->tolerance);
  }
}

void fill_matrix(const Matrix* matrix, Element element) {
  Comparison its = {element, 0, 0};
  for_each(matrix, set, &its);
}

int wrong_elements(const Matrix* matrix, Element expected, double tolerance) {
  Comparison its = {expected, tolerance, 0};
  for_each(matrix, compare, &its);
  return its.wrong;
}
