#include <stdlib.h>
#include <string.h>

#include "mpi/capi/check.h"

void contexts_are_made_of_communicators(void) {
  int rank = -1;
  int size = -1;
  SUCCEEDS(plait_context_rank(context, &rank));
  SUCCEEDS(plait_context_size(context, &size));
  CHECK(rank == this_rank && size == all_ranks);

  int* node_of = malloc((size_t)all_ranks * sizeof *node_of);
  SUCCEEDS(plait_context_nodes(context, node_of, all_ranks));
  for (int i = 0; i < all_ranks; ++i) CHECK(node_of[i] == 0);
  FAILS(plait_context_nodes(context, node_of, all_ranks + 1), PLAIT_ERROR_ARGUMENT, "count: is");
  FAILS(plait_context_nodes(context, NULL, all_ranks), PLAIT_ERROR_ARGUMENT, "node_of: is NULL");
  free(node_of);

  plait_context* other = NULL;
  SUCCEEDS(plait_context_create_f(MPI_Comm_c2f(MPI_COMM_SELF), &other));
  SUCCEEDS(plait_context_size(other, &size));
  CHECK(size == 1);
  SUCCEEDS(plait_context_free(&other));
  CHECK(other == NULL);
  SUCCEEDS(plait_context_free(&other));

  FAILS(plait_context_create(MPI_COMM_NULL, &other), PLAIT_ERROR_ARGUMENT, "comm: is MPI_COMM_NULL");
  FAILS(plait_context_create_f(12345, &other), PLAIT_ERROR_ARGUMENT, "comm = 12345: is no communicator");
  FAILS(plait_context_free(NULL), PLAIT_ERROR_ARGUMENT, "context: is NULL");
  FAILS(plait_context_rank(NULL, &rank), PLAIT_ERROR_ARGUMENT, "context: is NULL, expected a context");
  FAILS(plait_context_size(context, NULL), PLAIT_ERROR_ARGUMENT, "size: is NULL");

  // One rank alone has no place for the handle: none gets one.
  const int last = all_ranks - 1;
  FAILS(plait_context_create(MPI_COMM_WORLD, this_rank == last ? NULL : &other), PLAIT_ERROR_ARGUMENT,
        "context: is NULL, expected the address of a result");
  CHECK(other == NULL);

  CHECK(strcmp(plait_error_name(PLAIT_ERROR_LAYOUT), "PLAIT_ERROR_LAYOUT") == 0);
  CHECK(strcmp(plait_error_name(99), "unknown error") == 0);
  CHECK(plait_version()[0] >= '0' && plait_version()[0] <= '9');
}
