#include <math.h>
#include <stdlib.h>

#include "mpi/capi/check.h"

enum { n = 12, gap = 3 };

/// A rank's rows (or columns) of an n × n matrix: one tile, stored by columns, with `gap` elements after each.
typedef struct Slab {
  plait_layout* layout;
  plait_tile_extent extent;
  double* data;
  plait_index leading_dimension;
} Slab;

static Slab slab_of(const char* text, double value) {
  Slab slab = {.layout = layout_of(text, n, n)};
  plait_index count = 0;
  SUCCEEDS(plait_layout_tiles(slab.layout, this_rank, 1, &slab.extent, &count));
  slab.leading_dimension = slab.extent.rows + gap;
  const size_t size = (size_t)(slab.leading_dimension * slab.extent.columns + 1);
  slab.data = malloc(size * sizeof(double));
  for (size_t k = 0; k < size; ++k) slab.data[k] = value;
  return slab;
}

static void free_slab(Slab* slab) {
  SUCCEEDS(plait_layout_free(&slab->layout));
  free(slab->data);
}

/// Element (i, j) becomes 100·i + j.
static void fill(Slab* slab) {
  for (plait_index j = 0; j < slab->extent.columns; ++j) {
    for (plait_index i = 0; i < slab->extent.rows; ++i) {
      plait_index row = 0;
      plait_index column = 0;
      SUCCEEDS(plait_layout_place(slab->layout, slab->extent.row, slab->extent.column, i, j, &row, &column));
      slab->data[i + j * slab->leading_dimension] = (double)(100 * row + column);
    }
  }
}

/// How many elements are not factor · (100·i + j), or factor · (i + 100·j), and how many gaps are not `gap_value`.
static int wrong(const Slab* slab, double factor, int transposed, double gap_value) {
  int result = 0;
  for (plait_index j = 0; j < slab->extent.columns; ++j) {
    for (plait_index i = 0; i < slab->leading_dimension; ++i) {
      const double element = slab->data[i + j * slab->leading_dimension];
      plait_index row = 0;
      plait_index column = 0;
      if (i >= slab->extent.rows) {
        if (element != gap_value) ++result;
        continue;
      }
      SUCCEEDS(plait_layout_place(slab->layout, slab->extent.row, slab->extent.column, i, j, &row, &column));
      if (element != factor * (double)(transposed ? 100 * column + row : 100 * row + column)) ++result;
    }
  }
  return result;
}

static plait_source_tile source(const Slab* slab) {
  return (plait_source_tile){slab->data, slab->leading_dimension, PLAIT_COLUMN_MAJOR};
}
static plait_target_tile target(const Slab* slab) {
  return (plait_target_tile){slab->data, slab->leading_dimension, PLAIT_COLUMN_MAJOR};
}

void batches_move_several_matrices_at_once(void) {
  Slab b = slab_of("rows@{P}", 0);
  Slab a = slab_of("cols@{P}", -1);
  Slab d = slab_of("block-cyclic:2x2@1x{P}", 0);
  Slab c = slab_of("block-cyclic:5x5@{P}x1", -2);
  fill(&b);
  fill(&d);
  const plait_pair pairs[2] = {{b.layout, a.layout, PLAIT_IDENTITY}, {d.layout, c.layout, PLAIT_TRANSPOSE}};
  const plait_options options = {.memory_budget = 4096, .chunk_bytes = 64};
  plait_plan* plan = NULL;
  SUCCEEDS(plait_plan_create_batch(context, pairs, 2, &options, &plan));

  plait_volume volume;
  plait_index held = 0;
  SUCCEEDS(plait_plan_volume(plan, 1, &volume));
  held = c.extent.rows * c.extent.columns;
  CHECK(volume.received + volume.kept == held);
  FAILS(plait_plan_volume(plan, 2, &volume), PLAIT_ERROR_ARGUMENT, "pair: is 2");

  const double half = 0.5;
  const plait_source_tile sources[2] = {source(&b), source(&d)};
  const plait_target_tile targets[2] = {target(&a), target(&c)};
  const plait_operands operands[2] = {
      {.type = PLAIT_DOUBLE, .source = &sources[0], .source_count = 1, .target = &targets[0], .target_count = 1},
      {PLAIT_DOUBLE, &half, NULL, &sources[1], 1, &targets[1], 1}};
  for (int round = 0; round < 2; ++round) SUCCEEDS(plait_execute(plan, operands, 2));
  CHECK(wrong(&a, 1, 0, -1) == 0);
  CHECK(wrong(&c, 0.5, 1, -2) == 0);
  FAILS(plait_execute(plan, operands, 1), PLAIT_ERROR_ARGUMENT, "count: is 1");
  SUCCEEDS(plait_plan_free(&plan));

  SUCCEEDS(plait_plan_create_batch(context, NULL, 0, NULL, &plan));
  SUCCEEDS(plait_execute(plan, NULL, 0));
  SUCCEEDS(plait_plan_free(&plan));
  free_slab(&a);
  free_slab(&b);
  free_slab(&c);
  free_slab(&d);
}

void executions_go_on_in_the_background(void) {
  Slab b = slab_of("rows@{P}", 0);
  Slab a = slab_of("rows@{P},storage=col", -1);
  fill(&b);
  plait_context* own = NULL;
  plait_plan* plan = NULL;
  SUCCEEDS(plait_context_create(MPI_COMM_WORLD, &own));
  SUCCEEDS(plait_plan_create(own, b.layout, a.layout, PLAIT_TRANSPOSE, NULL, &plan));
  SUCCEEDS(plait_context_free(&own));  // the plan keeps what it needs
  int done = -1;
  SUCCEEDS(plait_progress(plan, &done));
  CHECK(done == 1);
  SUCCEEDS(plait_wait(plan));
  {
    const plait_source_tile b_tile = source(&b);
    const plait_target_tile a_tile = target(&a);
    const plait_operands operands = {PLAIT_DOUBLE, NULL, NULL, &b_tile, 1, &a_tile, 1};
    SUCCEEDS(plait_start(plan, &operands, 1));
    FAILS(plait_start(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "expected plait_wait");
  }
  do {
    SUCCEEDS(plait_progress(plan, &done));
  } while (!done);
  SUCCEEDS(plait_wait(plan));
  CHECK(wrong(&a, 1, 1, -1) == 0);

  const plait_source_tile b_tile = source(&b);
  const plait_target_tile a_tile = target(&a);
  const plait_operands operands = {PLAIT_DOUBLE, NULL, NULL, &b_tile, 1, &a_tile, 1};
  SUCCEEDS(plait_start(plan, &operands, 1));
  SUCCEEDS(plait_plan_free(&plan));  // ends it
  CHECK(wrong(&a, 1, 1, -1) == 0);
  free_slab(&a);
  free_slab(&b);
}

void only_what_is_needed_is_read_and_written(void) {
  Slab b = slab_of("rows@{P}", 0);
  Slab a = slab_of("cols@{P}", NAN);
  fill(&b);
  plait_plan* plan = NULL;
  SUCCEEDS(plait_plan_create(context, b.layout, a.layout, PLAIT_IDENTITY, NULL, &plan));
  const plait_source_tile b_tile = source(&b);
  const plait_target_tile a_tile = target(&a);
  plait_operands operands = {PLAIT_DOUBLE, NULL, NULL, &b_tile, 1, &a_tile, 1};
  SUCCEEDS(plait_execute(plan, &operands, 1));  // beta is 0: NaN is not read
  for (plait_index k = 0; k < gap * (a.extent.columns > 0); ++k) CHECK(isnan(a.data[a.extent.rows + k]));

  const double zero = 0;
  const double two = 2;
  operands = (plait_operands){PLAIT_DOUBLE, &zero, &two, NULL, 0, &a_tile, 1};
  SUCCEEDS(plait_execute(plan, &operands, 1));  // alpha is 0: B need not be there
  for (plait_index j = 0; j < a.extent.columns; ++j) {
    for (plait_index i = 0; i < gap; ++i) a.data[a.extent.rows + i + j * a.leading_dimension] = -1;
  }
  CHECK(wrong(&a, 2, 0, -1) == 0);
  SUCCEEDS(plait_plan_free(&plan));
  free_slab(&a);
  free_slab(&b);
}

void wrong_plans_fail_on_all_ranks(void) {
  const int last = this_rank == all_ranks - 1;
  plait_layout* from = layout_of("rows@{P}", n, 5);
  plait_layout* to = layout_of("cols@{P}", n, 5);
  plait_layout* wider = layout_of("cols@{P}", n, 6);
  plait_layout* larger = NULL;
  SUCCEEDS(plait_layout_create_from_text("rows@77", n, 5, &larger));
  plait_plan* plan = NULL;
  FAILS(plait_plan_create(context, last ? NULL : from, to, PLAIT_IDENTITY, NULL, &plan), PLAIT_ERROR_ARGUMENT,
        "from: is NULL, expected a layout");
  FAILS(plait_plan_create(context, from, last ? (plait_layout*)(void*)context : to, PLAIT_IDENTITY, NULL, &plan),
        PLAIT_ERROR_ARGUMENT, "to: is no handle of a layout");
  FAILS(plait_plan_create(context, from, to, last ? 9 : PLAIT_IDENTITY, NULL, &plan), PLAIT_ERROR_ARGUMENT, "op: is 9");
  FAILS(plait_plan_create(context, from, to, PLAIT_IDENTITY, NULL, last ? NULL : &plan), PLAIT_ERROR_ARGUMENT,
        "plan: is NULL");
  FAILS(plait_plan_create(context, from, last ? wider : to, PLAIT_IDENTITY, NULL, &plan), PLAIT_ERROR_SHAPE, "12 x 6");
  FAILS(plait_plan_create(context, from, larger, PLAIT_IDENTITY, NULL, &plan), PLAIT_ERROR_LAYOUT, "needs 77 ranks");
  FAILS(plait_plan_create_batch(context, NULL, 2, NULL, &plan), PLAIT_ERROR_ARGUMENT,
        "pairs: is NULL, expected 2 entries");
  const plait_options options = {.memory_budget = last ? 5 : 0};
  FAILS(plait_plan_create(context, from, to, PLAIT_IDENTITY, &options, &plan), PLAIT_ERROR_ARGUMENT,
        "memory_budget: is 5 bytes, expected at least 4096");
  const plait_options short_chunks = {.chunk_bytes = last ? 5 : 0};
  FAILS(plait_plan_create(context, from, to, PLAIT_IDENTITY, &short_chunks, &plan), PLAIT_ERROR_ARGUMENT,
        "chunk_bytes: is 5 bytes, expected at least 16");
  const plait_pair pairs[2] = {{from, to, PLAIT_IDENTITY}, {from, last ? NULL : to, PLAIT_IDENTITY}};
  FAILS(plait_plan_create_batch(context, pairs, 2, NULL, &plan), PLAIT_ERROR_ARGUMENT, "pair 1: to: is NULL");
  FAILS(plait_plan_create(NULL, from, to, PLAIT_IDENTITY, NULL, &plan), PLAIT_ERROR_ARGUMENT, "context: is NULL");
  CHECK(plan == NULL);
  if (all_ranks > 1) {
    FAILS(plait_plan_create(context, from, last ? from : to, PLAIT_IDENTITY, NULL, &plan), PLAIT_ERROR_ARGUMENT,
          "the ranks plan different redistributions");
  }
  FAILS(plait_execute(NULL, NULL, 0), PLAIT_ERROR_ARGUMENT, "plan: is NULL, expected a plan");
  SUCCEEDS(plait_layout_free(&larger));
  SUCCEEDS(plait_layout_free(&wider));
  SUCCEEDS(plait_layout_free(&to));
  SUCCEEDS(plait_layout_free(&from));
}

void wrong_operands_fail_on_all_ranks(void) {
  const int last = this_rank == all_ranks - 1;
  Slab b = slab_of("rows@{P}", 0);
  Slab a = slab_of("cols@{P}", -1);
  fill(&b);
  plait_plan* plan = NULL;
  SUCCEEDS(plait_plan_create(context, b.layout, a.layout, PLAIT_IDENTITY, NULL, &plan));
  const plait_source_tile b_tile = source(&b);
  const plait_target_tile a_tile = target(&a);
  const plait_operands right = {PLAIT_DOUBLE, NULL, NULL, &b_tile, 1, &a_tile, 1};

  plait_operands operands = right;
  if (last) operands.type = 12;
  FAILS(plait_execute(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "type: is 12");
  operands = right;
  if (last) operands.source_count = 0;
  FAILS(plait_execute(plan, &operands, 1), PLAIT_ERROR_SHAPE, "source: has 0 tiles, expected 1");
  operands = right;
  if (last) operands.target = NULL;
  FAILS(plait_execute(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "target: is NULL, expected 1 entries");
  FAILS(plait_execute(plan, last ? NULL : &right, 1), PLAIT_ERROR_ARGUMENT, "operands: is NULL");

  plait_target_tile tile = a_tile;
  operands = right;
  operands.target = &tile;
  if (last) tile.leading_dimension = n - 1;
  FAILS(plait_execute(plan, &operands, 1), PLAIT_ERROR_ARGUMENT,
        "target tile 0: leading_dimension is 11, expected at least 12");
  if (last) tile.leading_dimension = INT64_MAX / 4;
  FAILS(plait_start(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "leading_dimension");
  tile = a_tile;
  if (last) tile.order = 2;
  FAILS(plait_start(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "target tile 0: order: is 2");
  tile = a_tile;
  if (last) tile.data = NULL;
  FAILS(plait_execute(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "target tile 0: data: is NULL");
  tile = a_tile;
  if (last) tile.data = b.data;
  FAILS(plait_execute(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "overlap");
  if (all_ranks > 1) {
    const double zero = 0;
    operands = right;
    if (last) operands.alpha = &zero;
    FAILS(plait_execute(plan, &operands, 1), PLAIT_ERROR_ARGUMENT, "alpha");
  }
  CHECK(a.data[0] == -1);
  SUCCEEDS(plait_execute(plan, &right, 1));
  CHECK(wrong(&a, 1, 0, -1) == 0);
  SUCCEEDS(plait_plan_free(&plan));
  free_slab(&a);
  free_slab(&b);
}
