#include <stdint.h>
#include <stdlib.h>

#include "mpi/capi/check.h"

enum { longest = 60000 };

static int last_rank(void) { return all_ranks - 1; }

/// What rank r has at place i.
static int64_t term(int r, int i) { return (int64_t)(r + 1) * (i % 23 + 1); }
static int64_t sum_of(int begin, int end, int i) {
  int64_t result = 0;
  for (int r = begin; r < end; ++r) result += term(r, i);
  return result;
}

static const plait_reduction sum = {.type = PLAIT_INT64, .operation = PLAIT_SUM};

static void fill(int64_t* in, int count) {
  for (int i = 0; i < count; ++i) in[i] = term(this_rank, i);
}

/// All reductions of `count` elements, in memory of any kind; the tests' machines are one node.
static void check_reductions(plait_node* node, int64_t* in, int64_t* out, int count) {
  int wrong = 0;
  fill(in, count);
  SUCCEEDS(plait_node_allreduce(node, in, out, count, &sum));
  for (int i = 0; i < count; ++i) wrong += out[i] != sum_of(0, all_ranks, i);
  CHECK(wrong == 0);
  for (int i = 0; i < count; ++i) out[i] = -1;
  SUCCEEDS(plait_node_reduce(node, in, this_rank == last_rank() ? out : NULL, count, &sum, last_rank()));
  for (int i = 0; i < count; ++i) wrong += out[i] != (this_rank == last_rank() ? sum_of(0, all_ranks, i) : -1);
  CHECK(wrong == 0);
  SUCCEEDS(plait_node_scan(node, in, out, count, &sum));
  for (int i = 0; i < count; ++i) wrong += out[i] != sum_of(0, this_rank + 1, i);
  CHECK(wrong == 0);
  for (int i = 0; i < count; ++i) out[i] = 0;
  SUCCEEDS(plait_node_exscan(node, in, out, count, &sum));
  for (int i = 0; i < count; ++i) wrong += out[i] != sum_of(0, this_rank, i);
  CHECK(wrong == 0);

  plait_index* counts = malloc((size_t)all_ranks * sizeof *counts);
  int begin = 0;
  int total = 0;
  for (int r = 0; r < all_ranks; ++r) {
    counts[r] = r == last_rank() ? count - total : count / all_ranks / 2;
    if (r < this_rank) begin += (int)counts[r];
    total += (int)counts[r];
  }
  SUCCEEDS(plait_node_reduce_scatter(node, in, out, counts, &sum));
  for (int i = 0; i < counts[this_rank]; ++i) wrong += out[i] != sum_of(0, all_ranks, begin + i);
  CHECK(wrong == 0);
  free(counts);
  SUCCEEDS(plait_node_allreduce(node, in, in, count, &sum));  // in place
  for (int i = 0; i < count; ++i) wrong += in[i] != sum_of(0, all_ranks, i);
  CHECK(wrong == 0);
}

void nodes_reduce_in_memory_of_any_kind(void) {
  plait_node* node = NULL;
  plait_shared_memory* memory = NULL;
  void* address = NULL;
  SUCCEEDS(plait_node_create(context, &node));
  int rank = -1;
  int size = -1;
  SUCCEEDS(plait_node_rank(node, &rank));
  SUCCEEDS(plait_node_size(node, &size));
  CHECK(rank == this_rank && size == all_ranks);
  SUCCEEDS(plait_allocate_shared(context, 2 * longest * (plait_index)sizeof(int64_t), &memory, &address));
  int64_t* shared = address;
  int64_t* own = malloc(2 * longest * sizeof *own);
  CHECK((uintptr_t)address % 64 == 0);
  const int counts[4] = {1, 7, 1000, longest};
  for (int k = 0; k < 4; ++k) {
    check_reductions(node, own, own + longest, counts[k]);
    check_reductions(node, shared, shared + longest, counts[k]);
    check_reductions(node, shared, own, counts[k]);
  }
  SUCCEEDS(plait_node_allreduce(node, NULL, NULL, 0, &sum));
  free(own);
  MPI_Barrier(MPI_COMM_WORLD);
  SUCCEEDS(plait_free_shared(&memory));
  SUCCEEDS(plait_node_free(&node));
  CHECK(memory == NULL && node == NULL);
}

/// a before b: the digits of the one behind those of the other.
typedef struct Digits {
  int64_t value, weight;
} Digits;
static int behind(plait_index count, const void* a, const void* b, void* out, void* data) {
  const Digits* first = a;
  const Digits* second = b;
  Digits* result = out;
  for (plait_index i = 0; i < count; ++i) {
    const Digits both = {first[i].value * second[i].weight + second[i].value, first[i].weight * second[i].weight};
    result[i] = both;
  }
  return data == NULL ? 0 : -5;
}

void nodes_take_operations_of_users(void) {
  static Digits data[300];
  plait_reduction digits = {.function = behind, .element_bytes = sizeof(Digits)};
  plait_node* node = NULL;
  SUCCEEDS(plait_node_create(context, &node));
  int64_t expected = 0;
  for (int r = 0; r < all_ranks; ++r) expected = 10 * expected + r + 1;
  for (int i = 0; i < 300; ++i) data[i] = (Digits){this_rank + 1, 10};
  SUCCEEDS(plait_node_allreduce(node, data, data, 300, &digits));
  int wrong = 0;
  for (int i = 0; i < 300; ++i) wrong += data[i].value != expected;
  CHECK(wrong == 0);

  if (this_rank == last_rank()) digits.data = node;
  if (all_ranks > 1) {
    FAILS(plait_node_allreduce(node, data, data, 300, &digits),
          this_rank == last_rank() ? PLAIT_ERROR_ARGUMENT : PLAIT_ERROR_PEER_FAILED,
          this_rank == last_rank() ? "function: returned -5" : "");
  }
  digits.data = NULL;
  SUCCEEDS(plait_node_allreduce(node, data, data, 300, &digits));
  SUCCEEDS(plait_node_free(&node));
}

void sums_are_the_same_whoever_has_what(void) {
  enum { terms = 3000 };
  double* own = malloc(2 * terms * sizeof *own);
  plait_index count = 0;
  for (int i = this_rank; i < terms; i += all_ranks) {
    own[count++] = i % 2 == 0 ? 0x1p60 : -0x1p60;
    own[count++] = 0x1p-20 * i;
  }
  double energy = -1;
  SUCCEEDS(plait_reproducible_sum(context, own, count, PLAIT_DOUBLE, &energy));
  CHECK(energy == 0x1p-20 * (terms * (terms - 1) / 2));
  float complex_sum[2] = {-1, -1};
  const float complex_addends[4] = {0x1p100F, 1, -0x1p100F, (float)this_rank};
  SUCCEEDS(plait_reproducible_sum(context, complex_addends, 2, PLAIT_COMPLEX_FLOAT, complex_sum));
  CHECK(complex_sum[0] == 0 && complex_sum[1] == (float)(all_ranks + all_ranks * (all_ranks - 1) / 2));
  SUCCEEDS(plait_reproducible_sum(context, NULL, 0, PLAIT_DOUBLE, &energy));
  CHECK(energy == 0);

  // 2^60, then small numbers, then -2^60: added up one after the other, nothing would be left of the small ones.
  double in[50];
  double out[50];
  plait_summation* summation = NULL;
  plait_node* node = NULL;
  const plait_reduction exact = {.type = PLAIT_DOUBLE, .operation = PLAIT_EXACT_SUM};
  const double last = all_ranks > 1 && this_rank == last_rank() ? -0x1p60 : 0x1p-10 * this_rank;
  for (int i = 0; i < 50; ++i) in[i] = all_ranks > 1 && this_rank == 0 ? 0x1p60 : last, out[i] = -1;
  const double expected = all_ranks > 1 ? 0x1p-10 * ((all_ranks - 1) * (all_ranks - 2) / 2) : 0;
  SUCCEEDS(plait_summation_create(context, &summation));
  SUCCEEDS(plait_node_create(context, &node));
  int wrong = 0;
  SUCCEEDS(plait_summation_reduce(summation, in, this_rank == 0 ? out : NULL, 50, PLAIT_DOUBLE, 0));
  for (int i = 0; i < 50; ++i) wrong += out[i] != (this_rank == 0 ? expected : -1);
  SUCCEEDS(plait_node_allreduce(node, in, out, 50, &exact));
  for (int i = 0; i < 50; ++i) wrong += out[i] != expected, out[i] = -1;
  SUCCEEDS(plait_summation_allreduce(summation, in, out, 50, PLAIT_DOUBLE));
  for (int i = 0; i < 50; ++i) wrong += out[i] != expected;
  CHECK(wrong == 0);

  FAILS(plait_node_scan(node, in, out, 50, &exact), PLAIT_ERROR_ARGUMENT, "its operation is PLAIT_EXACT_SUM");
  const int fails = this_rank == last_rank();
  FAILS(plait_summation_allreduce(summation, fails ? NULL : in, out, 50, PLAIT_DOUBLE), PLAIT_ERROR_ARGUMENT,
        "in: is NULL");
  FAILS(plait_summation_allreduce(summation, in, out, 50, fails ? PLAIT_INT32 : PLAIT_DOUBLE), PLAIT_ERROR_ARGUMENT,
        "type: is 2, expected PLAIT_FLOAT");
  FAILS(plait_summation_reduce(summation, in, out, 50, PLAIT_DOUBLE, fails ? -1 : 0), PLAIT_ERROR_ARGUMENT, "root: is");
  FAILS(plait_reproducible_sum(context, own, fails ? -1 : 0, PLAIT_DOUBLE, &energy), PLAIT_ERROR_ARGUMENT,
        "addends: has -1");
  FAILS(plait_reproducible_sum(context, own, 1, PLAIT_DOUBLE, fails ? NULL : &energy), PLAIT_ERROR_ARGUMENT,
        "result: is NULL");
  FAILS(plait_summation_create(context, fails ? NULL : &summation), PLAIT_ERROR_ARGUMENT, "summation: is NULL");
  free(own);
  SUCCEEDS(plait_summation_create(context, &summation));
  SUCCEEDS(plait_summation_free(&summation));
  SUCCEEDS(plait_node_free(&node));
}

void wrong_reductions_of_nodes_fail_on_all_ranks(void) {
  int64_t data[8] = {0};
  const int wrong = this_rank == last_rank();
  const plait_reduction undefined = {.type = PLAIT_DOUBLE, .operation = PLAIT_BOR};
  const plait_reduction largest = {.type = PLAIT_INT64, .operation = PLAIT_MAX};
  plait_node* node = NULL;
  plait_shared_memory* memory = NULL;
  void* address = NULL;
  FAILS(plait_node_create(context, NULL), PLAIT_ERROR_ARGUMENT, "node: is NULL");
  FAILS(plait_allocate_shared(context, wrong ? -1 : 8, &memory, &address), PLAIT_ERROR_ARGUMENT, "-1");
  FAILS(plait_allocate_shared(context, 8, &memory, wrong ? NULL : &address), PLAIT_ERROR_ARGUMENT, "address: is NULL");
  CHECK(memory == NULL);
  SUCCEEDS(plait_node_create(context, &node));
  FAILS(plait_node_allreduce(node, wrong ? NULL : data, data, 8, &sum), PLAIT_ERROR_ARGUMENT, "in: is NULL");
  FAILS(plait_node_allreduce(node, data, data, wrong ? -1 : 8, &sum), PLAIT_ERROR_ARGUMENT, "in: has -1 entries");
  FAILS(plait_node_allreduce(node, data, data, 8, wrong ? NULL : &sum), PLAIT_ERROR_ARGUMENT, "reduction: is NULL");
  FAILS(plait_node_allreduce(node, data, data, 8, wrong ? &undefined : &sum), PLAIT_ERROR_ARGUMENT, "that MPI defines");
  FAILS(plait_node_reduce(node, data, data, 8, &sum, wrong ? all_ranks : 0), PLAIT_ERROR_ARGUMENT, "root: is");
  FAILS(plait_node_reduce(node, data, NULL, 8, &sum, 0), PLAIT_ERROR_ARGUMENT, "out: is NULL");
  FAILS(plait_node_reduce_scatter(node, data, data, NULL, &sum), PLAIT_ERROR_ARGUMENT, "counts: is NULL");
  if (all_ranks > 1) {
    FAILS(plait_node_allreduce(node, data, data, wrong ? 7 : 8, &sum), PLAIT_ERROR_ARGUMENT, "count: 7 on one rank, 8");
    FAILS(plait_node_allreduce(node, data, data, 8, wrong ? &largest : &sum), PLAIT_ERROR_ARGUMENT, "operation: 1 on");
    FAILS(wrong ? plait_node_scan(node, data, data, 8, &sum) : plait_node_allreduce(node, data, data, 8, &sum),
          PLAIT_ERROR_ARGUMENT, "reduction of the node: 0 on one rank, 3 on another");
  }
  SUCCEEDS(plait_node_allreduce(node, data, data, 8, &sum));
  plait_node* copy = node;
  SUCCEEDS(plait_node_free(&node));
  FAILS(plait_node_allreduce(copy, data, data, 8, &sum), PLAIT_ERROR_ARGUMENT, "node: is no handle of a node");
  FAILS(plait_node_allreduce(NULL, data, data, 8, &sum), PLAIT_ERROR_ARGUMENT, "node: is NULL");
}
