#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/capi/check.h"

int this_rank = 0;
int all_ranks = 1;
plait_context* context = NULL;
static int failures = 0;

void check(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++failures;
  printf("%s:%d: rank %d of %d: %s does not hold\n", file, line, this_rank, all_ranks, what);
}

void check_error(int code, int expected, const char* part, const char* call, const char* file, int line) {
  if (code == expected && (code == PLAIT_SUCCESS || strstr(plait_last_error(), part) != NULL)) return;
  ++failures;
  printf("%s:%d: rank %d of %d: %s\n  returned %s: %s\n  expected %s: %s\n", file, line, this_rank, all_ranks, call,
         plait_error_name(code), code == PLAIT_SUCCESS ? "" : plait_last_error(), plait_error_name(expected), part);
}

plait_layout* layout_of(const char* text, plait_index rows, plait_index columns) {
  char full[200];
  const char* place = strstr(text, "{P}");
  if (place == NULL) {
    snprintf(full, sizeof full, "%s", text);
  } else {
    snprintf(full, sizeof full, "%.*s%d%s", (int)(place - text), text, all_ranks, place + 3);
  }
  plait_layout* layout = NULL;
  SUCCEEDS(plait_layout_create_from_text(full, rows, columns, &layout));
  return layout;
}

static plait_pipeline* pipeline = NULL;
static plait_node* node = NULL;
static plait_shared_memory* memory = NULL;
static plait_summation* summation = NULL;
static plait_request* request = NULL;
static plait_product* product = NULL;
static plait_symm* symm = NULL;
static plait_purification* purification = NULL;

static void handles_that_outlive_mpi_can_be_freed(plait_layout* layout, plait_plan* plan) {
  const char* const text = "MPI is not running";
  SUCCEEDS(plait_pipeline_free(&pipeline));
  FAILS(plait_node_allreduce(node, NULL, NULL, 0, NULL), PLAIT_ERROR_MPI, text);
  SUCCEEDS(plait_node_free(&node));
  SUCCEEDS(plait_free_shared(&memory));
  SUCCEEDS(plait_summation_free(&summation));
  FAILS(plait_request_wait(&request), PLAIT_ERROR_MPI, text);
  FAILS(plait_product_execute(product, NULL), PLAIT_ERROR_MPI, text);
  FAILS(plait_purification_advance(purification, NULL, NULL), PLAIT_ERROR_MPI, text);
  SUCCEEDS(plait_product_free(&product));
  SUCCEEDS(plait_symm_free(&symm));
  SUCCEEDS(plait_purification_free(&purification));
  CHECK(pipeline == NULL && node == NULL && memory == NULL && summation == NULL && request == NULL);
  plait_plan* other = NULL;
  FAILS(plait_execute(plan, NULL, 0), PLAIT_ERROR_MPI, text);
  FAILS(plait_start(plan, NULL, 0), PLAIT_ERROR_MPI, text);
  FAILS(plait_progress(plan, NULL), PLAIT_ERROR_MPI, text);
  FAILS(plait_wait(plan), PLAIT_ERROR_MPI, text);
  FAILS(plait_plan_create(context, layout, layout, PLAIT_IDENTITY, NULL, &other), PLAIT_ERROR_MPI, text);
  SUCCEEDS(plait_context_free(&context));
  SUCCEEDS(plait_plan_free(&plan));
  SUCCEEDS(plait_layout_free(&layout));
  CHECK(context == NULL && plan == NULL && layout == NULL);
}

int main(int argc, char** argv) {
  int early = 0;
  plait_context* none = NULL;
  early = plait_context_create(MPI_COMM_WORLD, &none);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &this_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  CHECK(early == PLAIT_ERROR_MPI && none == NULL && strstr(plait_last_error(), "MPI is not running") != NULL);
  SUCCEEDS(plait_context_create(MPI_COMM_WORLD, &context));
  if (context == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

#define PLAIT_CALL(name) name();
  PLAIT_TESTS(PLAIT_CALL)

  plait_layout* layout = layout_of("rows@{P}", 4, 4);
  plait_plan* plan = NULL;
  SUCCEEDS(plait_plan_create(context, layout, layout, PLAIT_IDENTITY, NULL, &plan));
  const plait_stage stage = {.kind = PLAIT_STAGE_BROADCAST};
  void* address = NULL;
  static double data[1];
  SUCCEEDS(plait_pipeline_create(context, 4, 8, &stage, 1, NULL, &pipeline));
  SUCCEEDS(plait_node_create(context, &node));
  SUCCEEDS(plait_allocate_shared(context, 100, &memory, &address));
  SUCCEEDS(plait_summation_create(context, &summation));
  const plait_factor factor = {layout, PLAIT_IDENTITY};
  SUCCEEDS(plait_product_create(context, PLAIT_DOUBLE, &factor, &factor, layout, NULL, &product));
  SUCCEEDS(plait_symm_create(context, PLAIT_DOUBLE, 4, NULL, &symm));
  SUCCEEDS(plait_purification_create(context, PLAIT_DOUBLE, layout, NULL, layout, PLAIT_WHOLE, &purification));
  SUCCEEDS(plait_start_broadcast(context, data, 1, PLAIT_DOUBLE, 0, &request));
  int done = 0;
  while (!done) SUCCEEDS(plait_request_progress(request, &done));
  int all_failures = 0;
  MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  failures = 0;
  handles_that_outlive_mpi_can_be_freed(layout, plan);
  return all_failures + failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
