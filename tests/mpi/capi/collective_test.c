#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/capi/check.h"

enum { n = 1000 };

/// What rank r has at place i.
static double term(int r, int i) { return (double)(r + 1) * (i % 17 - 8); }

static int last_rank(void) { return all_ranks - 1; }

/// Blocks of different lengths, none for rank 1: how many elements, and where rank r's begins.
static plait_index block_length(int r) { return r == 1 ? 0 : 5 * (r + 1); }
static plait_index block_begin(int r) {
  plait_index begin = 0;
  for (int i = 0; i < r; ++i) begin += block_length(i);
  return begin;
}
static plait_index* block_lengths(void) {
  plait_index* lengths = malloc((size_t)all_ranks * sizeof *lengths);
  for (int r = 0; r < all_ranks; ++r) lengths[r] = block_length(r);
  return lengths;
}

void broadcasts_bring_what_the_root_has(void) {
  int64_t data[n];
  for (int root = 0; root < all_ranks; ++root) {
    int wrong = 0;
    for (int i = 0; i < n; ++i) data[i] = this_rank == root ? 1000 * root + i : -1;
    SUCCEEDS(plait_broadcast(context, data, n, PLAIT_INT64, root));
    for (int i = 0; i < n; ++i) wrong += data[i] != 1000 * root + i;
    CHECK(wrong == 0);
  }
  SUCCEEDS(plait_broadcast(context, NULL, 0, PLAIT_INT64, 0));
}

void reductions_combine_what_all_ranks_have(void) {
  const plait_reduction sum = {.type = PLAIT_DOUBLE, .operation = PLAIT_SUM};
  const double ranks_sum = all_ranks * (all_ranks + 1) / 2.0;
  double data[n];
  for (int root = 0; root < all_ranks; ++root) {
    int wrong = 0;
    for (int i = 0; i < n; ++i) data[i] = term(this_rank, i);
    SUCCEEDS(plait_reduce(context, data, n, &sum, root));
    for (int i = 0; i < n; ++i) wrong += data[i] != (this_rank == root ? ranks_sum * (i % 17 - 8) : term(this_rank, i));
    CHECK(wrong == 0);
  }
  int wrong = 0;
  for (int i = 0; i < n; ++i) data[i] = term(this_rank, i);
  SUCCEEDS(plait_allreduce(context, data, n, &sum));
  for (int i = 0; i < n; ++i) wrong += data[i] != ranks_sum * (i % 17 - 8);
  CHECK(wrong == 0);
}

/// All of MPI's operations on integers, each against a loop over the ranks.
static int32_t combined(plait_operation operation, int32_t a, int32_t b) {
  switch (operation) {
    case PLAIT_MAX: return a > b ? a : b;
    case PLAIT_MIN: return a < b ? a : b;
    case PLAIT_SUM: return a + b;
    case PLAIT_PROD: return a * b;
    case PLAIT_BAND: return a & b;
    case PLAIT_BOR: return a | b;
    case PLAIT_BXOR: return a ^ b;
    case PLAIT_LAND: return a && b;
    case PLAIT_LOR: return a || b;
    default: return !a != !b;
  }
}
static int32_t small(int r, int i) { return (r * 7 + i * 3) % 5 - 1; }

void every_operation_of_mpi_is_there(void) {
  int32_t data[n];
  for (plait_operation operation = PLAIT_MAX; operation <= PLAIT_LXOR; ++operation) {
    const plait_reduction reduction = {.type = PLAIT_INT32, .operation = operation};
    int wrong = 0;
    for (int i = 0; i < n; ++i) data[i] = small(this_rank, i);
    SUCCEEDS(plait_allreduce(context, data, n, &reduction));
    for (int i = 0; i < n; ++i) {
      int32_t expected = small(0, i);
      for (int r = 1; r < all_ranks; ++r) expected = combined(operation, expected, small(r, i));
      wrong += data[i] != expected;
    }
    CHECK(wrong == 0 || all_ranks == 1);
  }
  struct {
    double value;
    int index;
  } pair = {.value = this_rank / 2, .index = this_rank};
  const plait_reduction maxloc = {.type = PLAIT_DOUBLE_INT, .operation = PLAIT_MAXLOC};
  SUCCEEDS(plait_allreduce(context, &pair, 1, &maxloc));
  CHECK(pair.value == last_rank() / 2 && pair.index == last_rank() / 2 * 2);

  uint16_t half[2] = {0x3f80, 0x4000};  // 1 and 2, the upper halves of floats
  const plait_reduction largest = {.type = PLAIT_BFLOAT16, .operation = PLAIT_MAX};
  SUCCEEDS(plait_allreduce(context, half, 2, &largest));
  CHECK(half[0] == 0x3f80 && half[1] == 0x4000);
}

void every_type_is_added_up(void) {
  long double wide = this_rank;
  float small_complex[2] = {(float)this_rank, 1};
  unsigned char byte = 1;
  uint64_t long_integer = UINT64_C(1) << 40;
  const plait_reduction sums[4] = {{.type = PLAIT_LONG_DOUBLE, .operation = PLAIT_SUM},
                                   {.type = PLAIT_COMPLEX_FLOAT, .operation = PLAIT_SUM},
                                   {.type = PLAIT_UINT8, .operation = PLAIT_SUM},
                                   {.type = PLAIT_UINT64, .operation = PLAIT_SUM}};
  SUCCEEDS(plait_allreduce(context, &wide, 1, &sums[0]));
  SUCCEEDS(plait_allreduce(context, small_complex, 1, &sums[1]));
  SUCCEEDS(plait_allreduce(context, &byte, 1, &sums[2]));
  SUCCEEDS(plait_allreduce(context, &long_integer, 1, &sums[3]));
  const int below = all_ranks * (all_ranks - 1) / 2;
  CHECK(wide == below && small_complex[0] == (float)below && small_complex[1] == (float)all_ranks);
  CHECK(byte == all_ranks && long_integer == (uint64_t)all_ranks << 40);
}

void blocks_go_where_they_belong(void) {
  plait_index* lengths = block_lengths();
  const int total = (int)block_begin(all_ranks);
  const int own = (int)block_length(this_rank);
  double* in = malloc((size_t)total * sizeof *in);
  double* out = malloc((size_t)(own + 1) * sizeof *out);
  double* all = malloc((size_t)(total + 1) * sizeof *all);
  const plait_reduction sum = {.type = PLAIT_DOUBLE, .operation = PLAIT_SUM};
  int wrong = 0;
  for (int i = 0; i < total; ++i) in[i] = term(this_rank, i);
  out[own] = all[total] = -7;
  SUCCEEDS(plait_reduce_scatter(context, in, out, lengths, &sum));
  for (int i = 0; i < own; ++i) {
    wrong += out[i] != all_ranks * (all_ranks + 1) / 2.0 * term(0, (int)block_begin(this_rank) + i);
  }
  SUCCEEDS(plait_allgather(context, out, all, lengths, PLAIT_DOUBLE));
  for (int i = 0; i < total; ++i) wrong += all[i] != all_ranks * (all_ranks + 1) / 2.0 * term(0, i);
  CHECK(wrong == 0 && out[own] == -7 && all[total] == -7);
  free(in);
  free(out);
  free(all);
  free(lengths);
}

/// Rank r has (r + i) % 3 elements for rank i, each 100·r + i.
void blocks_are_exchanged(void) {
  plait_index* send = malloc((size_t)all_ranks * sizeof *send);
  plait_index* receive = malloc((size_t)all_ranks * sizeof *receive);
  int16_t* in = malloc((size_t)(2 * all_ranks) * sizeof *in);
  int16_t* out = malloc((size_t)(2 * all_ranks) * sizeof *out);
  int sent = 0;
  for (int i = 0; i < all_ranks; ++i) {
    send[i] = receive[i] = (this_rank + i) % 3;
    for (plait_index k = 0; k < send[i]; ++k) in[sent++] = (int16_t)(100 * this_rank + i);
  }
  SUCCEEDS(plait_alltoall(context, in, send, out, receive, PLAIT_INT16));
  int wrong = 0;
  int received = 0;
  for (int i = 0; i < all_ranks; ++i) {
    for (plait_index k = 0; k < receive[i]; ++k) wrong += out[received++] != 100 * i + this_rank;
  }
  CHECK(wrong == 0);
  if (this_rank == last_rank()) receive[0] += 1;
  FAILS(plait_alltoall(context, in, send, out, receive, PLAIT_INT16), PLAIT_ERROR_ARGUMENT, "receive_counts[0]: is");
  free(send);
  free(receive);
  free(in);
  free(out);
}

/// x → scale·x + shift: those of all ranks after each other, in their order.
typedef struct Map {
  int64_t scale, shift;
} Map;
static int compose(plait_index count, const void* a, const void* b, void* out, void* data) {
  const Map* first = a;
  const Map* then = b;
  Map* result = out;
  const int* fails = data;
  if (fails != NULL && *fails) return 42;
  for (plait_index i = 0; i < count; ++i) {
    const Map both = {then[i].scale * first[i].scale, then[i].scale * first[i].shift + then[i].shift};
    result[i] = both;
  }
  return 0;
}
static Map map_of(int r) { return (Map){r % 2 == 0 ? 2 : -1, r + 1}; }

void own_operations_keep_their_order(void) {
  const plait_reduction composed = {.operation = PLAIT_OWN, .function = compose, .element_bytes = sizeof(Map)};
  Map expected = map_of(0);
  for (int r = 1; r < all_ranks; ++r) {
    const Map next = map_of(r);
    compose(1, &expected, &next, &expected, NULL);
  }
  Map data[n];
  for (int i = 0; i < n; ++i) data[i] = map_of(this_rank);
  SUCCEEDS(plait_allreduce(context, data, n, &composed));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += data[i].scale != expected.scale || data[i].shift != expected.shift;
  CHECK(wrong == 0);
}

void own_operations_that_fail_end_on_all_ranks(void) {
  int fails = this_rank == last_rank();
  const plait_reduction composed = {.function = compose, .data = &fails, .element_bytes = sizeof(Map)};
  Map data[n];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < n; ++i) data[i] = map_of(this_rank);
    if (all_ranks == 1) {
      SUCCEEDS(plait_allreduce(context, data, n, &composed));
    } else if (fails) {
      FAILS(plait_allreduce(context, data, n, &composed), PLAIT_ERROR_ARGUMENT, "function: returned 42 for");
    } else {
      FAILS(plait_allreduce(context, data, n, &composed), PLAIT_ERROR_PEER_FAILED, "function: returned 42 for");
    }
  }
  fails = 0;
  SUCCEEDS(plait_allreduce(context, data, n, &composed));
}

void operations_go_on_in_the_background(void) {
  const plait_reduction sum = {.type = PLAIT_DOUBLE, .operation = PLAIT_SUM};
  plait_context* own = NULL;
  plait_request* first = NULL;
  plait_request* second = NULL;
  static double data[2][n];
  for (int i = 0; i < n; ++i) data[0][i] = term(this_rank, i), data[1][i] = this_rank == 0 ? i : -1;
  SUCCEEDS(plait_context_create(MPI_COMM_WORLD, &own));
  SUCCEEDS(plait_start_allreduce(own, data[0], n, &sum, &first));
  SUCCEEDS(plait_start_broadcast(own, data[1], n, PLAIT_DOUBLE, 0, &second));
  SUCCEEDS(plait_context_free(&own));  // requests keep what they need
  int done = 0;
  do {
    SUCCEEDS(plait_request_progress(first, &done));
  } while (!done);
  SUCCEEDS(plait_request_wait(&second));
  SUCCEEDS(plait_request_wait(&first));
  CHECK(first == NULL && second == NULL);
  SUCCEEDS(plait_request_wait(&first));
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    wrong += data[0][i] != all_ranks * (all_ranks + 1) / 2.0 * (i % 17 - 8) || data[1][i] != i;
  }
  CHECK(wrong == 0);
}

void wrong_collective_operations_fail_on_all_ranks(void) {
  double data[4] = {1, 2, 3, 4};
  const int wrong = this_rank == last_rank();
  const plait_reduction sum = {.type = PLAIT_DOUBLE, .operation = PLAIT_SUM};
  const plait_reduction forgotten = {.type = PLAIT_DOUBLE};
  const plait_reduction both = {.type = PLAIT_DOUBLE, .operation = PLAIT_SUM, .function = compose};
  const plait_reduction undefined = {.type = PLAIT_DOUBLE, .operation = PLAIT_BAND};
  const plait_reduction exact = {.type = PLAIT_DOUBLE, .operation = PLAIT_EXACT_SUM};
  const plait_reduction no_operation = {.type = PLAIT_DOUBLE, .operation = 99};
  const plait_reduction no_type = {.type = 25, .operation = PLAIT_SUM};
  plait_index* lengths = block_lengths();
  const plait_index minus_one = -1;

  FAILS(plait_broadcast(NULL, data, 4, PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "context: is NULL");
  FAILS(plait_broadcast(context, wrong ? NULL : data, 4, PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "data: is NULL");
  FAILS(plait_broadcast(context, data, wrong ? -1 : 4, PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "data: has -1");
  FAILS(plait_broadcast(context, data, INT64_MAX, PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "expected at most");
  FAILS(plait_broadcast(context, data, 4, wrong ? -1 : PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "type: is -1");
  FAILS(plait_broadcast(context, data, 4, PLAIT_DOUBLE, all_ranks), PLAIT_ERROR_ARGUMENT, "root");
  FAILS(plait_allreduce(context, data, 4, wrong ? NULL : &sum), PLAIT_ERROR_ARGUMENT, "reduction: is NULL");
  FAILS(plait_allreduce(context, data, 4, wrong ? &forgotten : &sum), PLAIT_ERROR_ARGUMENT, "its function NULL");
  FAILS(plait_allreduce(context, data, 4, wrong ? &both : &sum), PLAIT_ERROR_ARGUMENT, "expected PLAIT_OWN with");
  FAILS(plait_allreduce(context, data, 4, wrong ? &no_operation : &sum), PLAIT_ERROR_ARGUMENT, "operation is 99");
  FAILS(plait_allreduce(context, data, 4, wrong ? &no_type : &sum), PLAIT_ERROR_ARGUMENT, "type: is 25");
  FAILS(plait_allreduce(context, data, 4, wrong ? &undefined : &sum), PLAIT_ERROR_ARGUMENT, "expected one that MPI");
  FAILS(plait_allreduce(context, data, 4, &exact), PLAIT_ERROR_ARGUMENT, "sums up all operands at once");
  FAILS(plait_reduce_scatter(context, data, data, NULL, &sum), PLAIT_ERROR_ARGUMENT, "counts: is NULL");
  FAILS(plait_reduce_scatter(context, NULL, data, lengths, &sum), PLAIT_ERROR_ARGUMENT, "in: is NULL");
  if (all_ranks == 1) {
    FAILS(plait_allgather(context, data, data, &minus_one, PLAIT_DOUBLE), PLAIT_ERROR_ARGUMENT, "counts[0]: is -1");
  } else {
    lengths[0] = wrong ? 2 : 1;
    FAILS(plait_allgather(context, data, data, lengths, PLAIT_DOUBLE), PLAIT_ERROR_ARGUMENT, "block 0: count: is ");
    FAILS(plait_broadcast(context, data, wrong ? 3 : 4, PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "bytes: is ");
    FAILS(plait_allreduce(context, data, wrong ? 3 : 4, &sum), PLAIT_ERROR_ARGUMENT, "elements: is ");
    plait_reduction own = {.function = compose, .element_bytes = sizeof *data, .commutes = wrong};
    FAILS(plait_allreduce(context, data, 4, &own), PLAIT_ERROR_ARGUMENT, "in any order: is ");
    FAILS(plait_broadcast(context, data, 4, wrong ? PLAIT_INT64 : PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "type: is ");
    FAILS(plait_broadcast(context, data, 4, PLAIT_DOUBLE, wrong), PLAIT_ERROR_ARGUMENT, "root: is ");
    if (wrong) {
      FAILS(plait_broadcast(context, data, 4, PLAIT_DOUBLE, 0), PLAIT_ERROR_ARGUMENT, "collective operation: is ");
    } else {
      FAILS(plait_allreduce(context, data, 4, &sum), PLAIT_ERROR_ARGUMENT, "collective operation: is ");
    }
  }
  FAILS(plait_start_broadcast(context, data, 4, PLAIT_DOUBLE, 0, NULL), PLAIT_ERROR_ARGUMENT, "request: is NULL");
  FAILS(plait_request_progress((plait_request*)context, NULL), PLAIT_ERROR_ARGUMENT, "request: is no handle");
  FAILS(plait_request_wait(NULL), PLAIT_ERROR_ARGUMENT, "request: is NULL");
  SUCCEEDS(plait_broadcast(context, data, 4, PLAIT_DOUBLE, 0));  // the context is as good as before
  CHECK(data[0] == 1 && data[3] == 4);
  free(lengths);
}
