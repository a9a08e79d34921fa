// Moves a matrix from the block-cyclic layout of ScaLAPACK into whole columns, transposed on the way:  A ← 2·Bᵀ.
//
//   build/openmpi/bin/example_redistribute_c                    alone
//   mpirun -n 4 build/openmpi/bin/example_redistribute_c        on four ranks: each holds its part of both

#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include "plait.h"

/// What is wrong, plait says on all ranks alike.
static void expect_success(int code) {
  if (code == PLAIT_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", plait_error_name(code), plait_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// The one tile that this rank has in a layout like these, and memory for it.
static double* allocate_tile(const plait_layout* layout, int rank, plait_tile_extent* extent) {
  plait_index count = 0;
  expect_success(plait_layout_tiles(layout, rank, 1, extent, &count));
  return malloc((size_t)(extent->rows * extent->columns + 1) * sizeof(double));
}

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  plait_context* context = NULL;
  plait_layout* from = NULL;
  plait_layout* to = NULL;
  plait_plan* plan = NULL;
  const plait_block_cyclic description = {
      .rows = 600, .columns = 400, .block_rows = 32, .block_columns = 32, .grid_rows = ranks, .grid_columns = 1};
  char columns[32];
  snprintf(columns, sizeof columns, "cols@%d", ranks);
  expect_success(plait_context_create(MPI_COMM_WORLD, &context));
  expect_success(plait_layout_create_block_cyclic(&description, &from));
  expect_success(plait_layout_create_from_text(columns, 400, 600, &to));
  expect_success(plait_plan_create(context, from, to, PLAIT_TRANSPOSE, NULL, &plan));

  plait_tile_extent b_extent;
  plait_tile_extent a_extent;
  double* b = allocate_tile(from, rank, &b_extent);
  double* a = allocate_tile(to, rank, &a_extent);
  plait_index i = 0;
  plait_index j = 0;
  for (plait_index k = 0; k < b_extent.rows * b_extent.columns; ++k) {
    expect_success(
        plait_layout_place(from, b_extent.row, b_extent.column, k % b_extent.rows, k / b_extent.rows, &i, &j));
    b[k] = 1000.0 * (double)i + (double)j;
  }

  const double two = 2;
  const plait_source_tile b_tile = {b, b_extent.rows, PLAIT_COLUMN_MAJOR};
  const plait_target_tile a_tile = {a, a_extent.rows, PLAIT_COLUMN_MAJOR};
  const plait_operands operands = {
      .type = PLAIT_DOUBLE, .alpha = &two, .source = &b_tile, .source_count = 1, .target = &a_tile, .target_count = 1};
  expect_success(plait_execute(plan, &operands, 1));  // as often as you like, on any memory

  long wrong = 0;
  for (plait_index k = 0; k < a_extent.rows * a_extent.columns; ++k) {
    expect_success(plait_layout_place(to, a_extent.row, a_extent.column, k % a_extent.rows, k / a_extent.rows, &i, &j));
    if (a[k] != 2 * (1000.0 * (double)j + (double)i)) ++wrong;
  }
  printf("rank %d of %d: %ld wrong elements\n", rank, ranks, wrong);

  free(a);
  free(b);
  plait_plan_free(&plan);
  plait_layout_free(&to);
  plait_layout_free(&from);
  plait_context_free(&context);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
