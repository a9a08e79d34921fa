#include <stdint.h>
#include <stdlib.h>

#include "mpi/capi/check.h"

enum { n = 5000 };

static int last_rank(void) { return all_ranks - 1; }
static double sum_of_ranks(void) { return all_ranks * (all_ranks + 1) / 2.0; }

/// weights ← weights - gradient / 4, where the gradient is what the pipeline carries.
typedef struct Training {
  double weights[n];
  int calls;
  int fails;
} Training;
static int learn(void* elements, plait_index first, plait_index count, void* data) {
  const double* gradient = elements;
  Training* training = data;
  ++training->calls;
  for (plait_index i = 0; i < count; ++i) training->weights[first + i] -= gradient[i] / 4;
  return training->fails ? 3 : 0;
}
static int twice(void* elements, plait_index first, plait_index count, void* data) {
  double* vector = elements;
  (void)first;
  (void)data;
  for (plait_index i = 0; i < count; ++i) vector[i] *= 2;
  return 0;
}
static int larger(plait_index count, const void* a, const void* b, void* out, void* data) {
  const double* left = a;
  const double* right = b;
  double* result = out;
  (void)data;
  for (plait_index i = 0; i < count; ++i) result[i] = left[i] > right[i] ? left[i] : right[i];
  return 0;
}

static const plait_reduction sum = {.type = PLAIT_DOUBLE, .operation = PLAIT_SUM};

void computations_see_each_element_once(void) {
  static Training training;
  static double gradient[n];
  const plait_stage stages[2] = {{.kind = PLAIT_STAGE_ALLREDUCE, .reduction = sum},
                                 {.kind = PLAIT_STAGE_COMPUTE, .compute = learn, .data = &training}};
  const plait_pipeline_options options = {.strands = 2, .segment_bytes = 1024};
  plait_pipeline* pipeline = NULL;
  SUCCEEDS(plait_pipeline_create(context, n, sizeof(double), stages, 2, &options, &pipeline));
  for (int i = 0; i < n; ++i) training.weights[i] = i;
  training.calls = 0;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < n; ++i) gradient[i] = this_rank + 1;
    SUCCEEDS(plait_pipeline_execute(pipeline, gradient));
  }
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += training.weights[i] != i - 3 * sum_of_ranks() / 4;
  CHECK(wrong == 0);
  CHECK(training.calls >= 6);
  SUCCEEDS(plait_pipeline_free(&pipeline));
  CHECK(pipeline == NULL);
}

void stages_follow_each_other(void) {
  static double vector[n];
  const plait_reduction largest = {.operation = PLAIT_OWN, .function = larger, .element_bytes = 8, .commutes = 1};
  const plait_stage stages[4] = {{.kind = PLAIT_STAGE_REDUCE, .root = last_rank(), .reduction = largest},
                                 {.kind = PLAIT_STAGE_COMPUTE, .compute = twice},
                                 {.kind = PLAIT_STAGE_BROADCAST, .root = last_rank()},
                                 {.kind = PLAIT_STAGE_COMPUTE, .compute = twice}};
  plait_pipeline* pipeline = NULL;
  SUCCEEDS(plait_pipeline_create(context, n, sizeof(double), stages, 4, NULL, &pipeline));
  for (int i = 0; i < n; ++i) vector[i] = (this_rank * 7 + i) % 5;
  SUCCEEDS(plait_pipeline_start(pipeline, vector));
  int done = 0;
  do {
    SUCCEEDS(plait_pipeline_progress(pipeline, &done));
  } while (!done);
  SUCCEEDS(plait_pipeline_wait(pipeline));
  SUCCEEDS(plait_pipeline_wait(pipeline));
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    int expected = 0;
    for (int r = 0; r < all_ranks; ++r) expected = (r * 7 + i) % 5 > expected ? (r * 7 + i) % 5 : expected;
    wrong += vector[i] != 4 * expected;
  }
  CHECK(wrong == 0);
  SUCCEEDS(plait_pipeline_start(pipeline, vector));
  SUCCEEDS(plait_pipeline_free(&pipeline));  // ends it
}

/// Even ranks and odd ranks each among themselves.
void groups_have_pipelines_side_by_side(void) {
  static double vector[n];
  int* group = malloc((size_t)all_ranks * sizeof *group);
  int size = 0;
  double expected = 0;
  for (int r = this_rank % 2; r < all_ranks; r += 2) group[size++] = r, expected += r + 1;
  const plait_stage stages[2] = {{.kind = PLAIT_STAGE_REDUCE,
                                  .ranks = group,
                                  .rank_count = size,
                                  .widest = (all_ranks + 1) / 2,
                                  .root = size - 1,
                                  .reduction = sum},
                                 {.kind = PLAIT_STAGE_BROADCAST,
                                  .ranks = group,
                                  .rank_count = size,
                                  .widest = (all_ranks + 1) / 2,
                                  .root = size - 1}};
  plait_pipeline* pipeline = NULL;
  SUCCEEDS(plait_pipeline_create(context, n, sizeof(double), stages, 2, NULL, &pipeline));
  free(group);
  for (int i = 0; i < n; ++i) vector[i] = this_rank + 1;
  SUCCEEDS(plait_pipeline_execute(pipeline, vector));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += vector[i] != expected;
  CHECK(wrong == 0);
  SUCCEEDS(plait_pipeline_free(&pipeline));
}

void computations_that_fail_end_on_all_ranks(void) {
  static Training training;
  static double gradient[n];
  const plait_stage stages[2] = {{.kind = PLAIT_STAGE_ALLREDUCE, .reduction = sum},
                                 {.kind = PLAIT_STAGE_COMPUTE, .compute = learn, .data = &training}};
  plait_pipeline* pipeline = NULL;
  SUCCEEDS(plait_pipeline_create(context, n, sizeof(double), stages, 2, NULL, &pipeline));
  for (int round = 0; round < 2; ++round) {
    training.fails = this_rank == last_rank();
    if (training.fails) {
      FAILS(plait_pipeline_execute(pipeline, gradient), PLAIT_ERROR_ARGUMENT, "function: returned 3 for elements");
    } else {
      FAILS(plait_pipeline_execute(pipeline, gradient), PLAIT_ERROR_PEER_FAILED, "function: returned 3 for elements");
    }
    training.fails = 0;
    SUCCEEDS(plait_pipeline_execute(pipeline, gradient));
  }
  SUCCEEDS(plait_pipeline_free(&pipeline));

  // What fails before it is sent: the others wait for it.
  const plait_stage early[2] = {{.kind = PLAIT_STAGE_COMPUTE, .compute = learn, .data = &training},
                                {.kind = PLAIT_STAGE_BROADCAST}};
  SUCCEEDS(plait_pipeline_create(context, n, sizeof(double), early, 2, NULL, &pipeline));
  training.fails = this_rank == 0;
  FAILS(plait_pipeline_execute(pipeline, gradient), this_rank == 0 ? PLAIT_ERROR_ARGUMENT : PLAIT_ERROR_PEER_FAILED,
        "function: returned 3 for elements");
  SUCCEEDS(plait_pipeline_free(&pipeline));
}

/// What planning of one stage returns, which is given to the last rank only; the others have a broadcast.
static int planned(plait_stage stage, plait_index stage_count, plait_index element_bytes) {
  const plait_stage right = {.kind = PLAIT_STAGE_BROADCAST};
  plait_pipeline* pipeline = (plait_pipeline*)&stage;
  const int code = plait_pipeline_create(context, n, element_bytes, this_rank == last_rank() ? &stage : &right,
                                         this_rank == last_rank() ? stage_count : 1, NULL, &pipeline);
  CHECK(code == PLAIT_SUCCESS || pipeline == NULL);
  plait_pipeline_free(&pipeline);
  return code;
}

void wrong_pipelines_fail_on_all_ranks(void) {
  const int twice_rank_0[2] = {0, 0};
  const plait_stage broadcast = {.kind = PLAIT_STAGE_BROADCAST};
  const plait_reduction sum_of_floats = {.type = PLAIT_FLOAT, .operation = PLAIT_SUM};
  double vector[4] = {0};
  plait_pipeline* pipeline = NULL;
  FAILS(planned((plait_stage){.kind = 0}, 1, 8), PLAIT_ERROR_ARGUMENT, "stage 0: kind: is 0");
  FAILS(planned((plait_stage){.kind = PLAIT_STAGE_COMPUTE}, 1, 8), PLAIT_ERROR_ARGUMENT, "compute: is NULL");
  FAILS(planned((plait_stage){.kind = PLAIT_STAGE_BROADCAST, .root = all_ranks}, 1, 8), PLAIT_ERROR_ARGUMENT, "root");
  FAILS(planned((plait_stage){.kind = PLAIT_STAGE_BROADCAST, .root = -1}, 1, 8), PLAIT_ERROR_ARGUMENT, "root");
  FAILS(planned((plait_stage){.kind = PLAIT_STAGE_BROADCAST, .ranks = twice_rank_0, .rank_count = 2}, 1, 8),
        PLAIT_ERROR_ARGUMENT, "stage 0: ");
  FAILS(planned((plait_stage){.kind = PLAIT_STAGE_BROADCAST, .rank_count = 2}, 1, 8), PLAIT_ERROR_ARGUMENT,
        "ranks: is NULL");
  FAILS(planned((plait_stage){.kind = PLAIT_STAGE_ALLREDUCE}, 1, 8), PLAIT_ERROR_ARGUMENT, "its function NULL");
  FAILS(planned((plait_stage){.kind = PLAIT_STAGE_ALLREDUCE, .reduction = sum_of_floats}, 1, 8), PLAIT_ERROR_ARGUMENT,
        "elements of 4 bytes");
  FAILS(planned(broadcast, -1, 8), PLAIT_ERROR_ARGUMENT, "stages: has -1 entries");
  FAILS(planned(broadcast, 1, 0), PLAIT_ERROR_ARGUMENT, "element_bytes");
  FAILS(plait_pipeline_create(context, -1, 8, &broadcast, 1, NULL, &pipeline), PLAIT_ERROR_ARGUMENT, "elements");
  FAILS(plait_pipeline_create(context, 4, 8, NULL, 1, NULL, &pipeline), PLAIT_ERROR_ARGUMENT, "stages: is NULL");
  FAILS(plait_pipeline_create(context, 4, 8, &broadcast, 1, NULL, NULL), PLAIT_ERROR_ARGUMENT, "pipeline: is NULL");
  if (all_ranks > 1) {
    FAILS(planned((plait_stage){.kind = PLAIT_STAGE_ALLREDUCE, .reduction = sum}, 1, 8), PLAIT_ERROR_ARGUMENT,
          "stages, as a checksum");
    FAILS(planned(broadcast, 0, 8), PLAIT_ERROR_ARGUMENT, "stage_count: is 0, but 1 on rank 0");
    FAILS(plait_pipeline_create(context, this_rank == 0 ? 4 : 5, 8, &broadcast, 1, NULL, &pipeline),
          PLAIT_ERROR_ARGUMENT, "elements: is ");
  }
  SUCCEEDS(plait_pipeline_create(context, 4, 8, &broadcast, 1, NULL, &pipeline));
  FAILS(plait_pipeline_start(pipeline, this_rank == last_rank() ? NULL : vector), PLAIT_ERROR_ARGUMENT,
        "data: is NULL");
  SUCCEEDS(plait_pipeline_start(pipeline, vector));
  FAILS(plait_pipeline_start(pipeline, vector), PLAIT_ERROR_ARGUMENT, "expected plait_pipeline_wait");
  SUCCEEDS(plait_pipeline_wait(pipeline));
  plait_pipeline* copy = pipeline;
  SUCCEEDS(plait_pipeline_free(&pipeline));
  FAILS(plait_pipeline_execute(copy, vector), PLAIT_ERROR_ARGUMENT, "pipeline: is no handle of a pipeline");
  FAILS(plait_pipeline_free(&copy), PLAIT_ERROR_ARGUMENT, "pipeline: is no handle of a pipeline");
  FAILS(plait_pipeline_wait(NULL), PLAIT_ERROR_ARGUMENT, "pipeline: is NULL");
}
