#include <stdlib.h>

#include "mpi/capi/check.h"

enum { most_ranks = 16, n = 40 };

// From whole rows, rank r having the r-th, to whole rows of ranks that are numbered the other way round: all of it
// would have to move, and nothing has to if the ranks change their roles.
static plait_layout* rows;
static plait_layout* reversed;
static plait_sized_pair pair;

static void make_pair(void) {
  int ranks[most_ranks];
  for (int i = 0; i < all_ranks; ++i) ranks[i] = all_ranks - 1 - i;
  rows = layout_of("rows@{P}", n, n);
  SUCCEEDS(plait_layout_create_relabeled(rows, ranks, all_ranks, &reversed));
  pair = (plait_sized_pair){{rows, reversed, PLAIT_IDENTITY}, 8};
}
static void free_pair(void) {
  SUCCEEDS(plait_layout_free(&rows));
  SUCCEEDS(plait_layout_free(&reversed));
}

static int is_reversal(const int* rank_of) {
  for (int i = 0; i < all_ranks; ++i) {
    if (rank_of[i] != all_ranks - 1 - i) return 0;
  }
  return 1;
}

void relabeling_finds_where_data_is(void) {
  make_pair();
  int rank_of[most_ranks];
  plait_relabeling relabeling = {-1, -1};
  SUCCEEDS(plait_relabel(&pair, 1, all_ranks, NULL, rank_of, &relabeling));
  CHECK(is_reversal(rank_of));
  CHECK(relabeling.cost_after == 0);
  CHECK(relabeling.cost_before == 8 * n * (n - (all_ranks % 2 == 1 ? (n + all_ranks / 2) / all_ranks : 0)));

  plait_layout* relabeled = NULL;
  SUCCEEDS(plait_layout_create_relabeled(reversed, rank_of, all_ranks, &relabeled));
  plait_plan* plan = NULL;
  SUCCEEDS(plait_plan_create(context, rows, relabeled, PLAIT_IDENTITY, NULL, &plan));
  plait_volume volume = {-1, -1, -1};
  SUCCEEDS(plait_plan_volume(plan, 0, &volume));
  CHECK(volume.sent == 0 && volume.received == 0 && volume.kept > 0);
  SUCCEEDS(plait_plan_free(&plan));
  SUCCEEDS(plait_layout_free(&relabeled));

  MPI_Comm permuted = MPI_COMM_NULL;
  SUCCEEDS(plait_permute(MPI_COMM_WORLD, rank_of, all_ranks, &permuted));
  int rank = -1;
  MPI_Comm_rank(permuted, &rank);
  CHECK(rank == all_ranks - 1 - this_rank);
  MPI_Comm_free(&permuted);
  MPI_Fint as_integer = 0;
  SUCCEEDS(plait_permute_f(MPI_Comm_c2f(MPI_COMM_WORLD), rank_of, all_ranks, &as_integer));
  permuted = MPI_Comm_f2c(as_integer);
  MPI_Comm_rank(permuted, &rank);
  CHECK(rank == all_ranks - 1 - this_rank);
  MPI_Comm_free(&permuted);
  free_pair();
}

static int volume_again(int from, int to, const plait_package* package, void* data, plait_index* cost) {
  ++*(int*)data;
  *cost = from == to ? 0 : package->bytes;
  return 0;
}

static int one_gigabyte_per_second(int from, int to, void* data, double* latency_seconds, double* bytes_per_second) {
  ++*(int*)data;
  *latency_seconds = from == to ? -1 : 0;  // which would be an error
  *bytes_per_second = 1e9;
  return 0;
}

static int nothing(int from, int to, const plait_package* package, void* data, plait_index* cost) {
  (void)from, (void)to, (void)package, (void)data;
  *cost = 0;
  return 0;
}

void costs_are_what_users_say(void) {
  make_pair();
  int node_of[most_ranks];
  SUCCEEDS(plait_context_nodes(context, node_of, all_ranks));
  plait_relabeling volume;
  int rank_of[most_ranks];
  SUCCEEDS(plait_relabel(&pair, 1, all_ranks, NULL, rank_of, &volume));

  int calls = 0;
  const plait_cost costs[3] = {{.kind = PLAIT_COST_NODE, .node_of = node_of, .in_node = 1, .network = 10},
                               {.kind = PLAIT_COST_LINK, .link = one_gigabyte_per_second, .data = &calls},
                               {.kind = PLAIT_COST_CUSTOM, .function = volume_again, .data = &calls}};
  for (int i = 0; i < 3; ++i) {
    plait_relabeling relabeling = {-1, -1};
    calls = 0;
    SUCCEEDS(plait_relabel(&pair, 1, all_ranks, &costs[i], rank_of, &relabeling));
    CHECK(relabeling.cost_before == volume.cost_before && relabeling.cost_after == 0 && is_reversal(rank_of));
    CHECK(i == 0 || calls > 0 || all_ranks == 1);
  }
  const plait_cost free_of_charge = {.kind = PLAIT_COST_CUSTOM, .function = nothing};
  SUCCEEDS(plait_relabel(&pair, 1, all_ranks, &free_of_charge, rank_of, NULL));
  for (int i = 0; i < all_ranks; ++i) CHECK(rank_of[i] == i);
  free_pair();
}

static int refuses(int from, int to, const plait_package* package, void* data, plait_index* cost) {
  (void)from, (void)to, (void)package, (void)data, (void)cost;
  return 42;
}

void wrong_relabelings_are_explained(void) {
  make_pair();
  int rank_of[most_ranks];
  plait_cost cost = {.kind = PLAIT_COST_CUSTOM};
  FAILS(plait_relabel(&pair, 1, all_ranks, &cost, rank_of, NULL), PLAIT_ERROR_ARGUMENT, "function: is NULL");
  cost.function = refuses;
  FAILS(plait_relabel(&pair, 1, all_ranks, &cost, rank_of, NULL), PLAIT_ERROR_ARGUMENT, "function: returned 42");
  cost.kind = 8;
  FAILS(plait_relabel(&pair, 1, all_ranks, &cost, rank_of, NULL), PLAIT_ERROR_ARGUMENT, "cost: its kind is 8");
  cost.kind = PLAIT_COST_NODE;
  FAILS(plait_relabel(&pair, 1, all_ranks, &cost, rank_of, NULL), PLAIT_ERROR_ARGUMENT, "node_of: is NULL");
  FAILS(plait_relabel(&pair, 1, 0, NULL, rank_of, NULL), PLAIT_ERROR_ARGUMENT, "ranks: is 0");
  FAILS(plait_relabel(&pair, 1, all_ranks, NULL, NULL, NULL), PLAIT_ERROR_ARGUMENT, "rank_of: is NULL");
  if (all_ranks > 1) {
    FAILS(plait_relabel(&pair, 1, all_ranks - 1, NULL, rank_of, NULL), PLAIT_ERROR_LAYOUT, "ranks");
  }

  // Collective: what is wrong on one rank alone is an error on all.
  const int last = this_rank == all_ranks - 1;
  MPI_Comm permuted = MPI_COMM_NULL;
  for (int i = 0; i < all_ranks; ++i) rank_of[i] = i;
  FAILS(plait_permute(MPI_COMM_WORLD, last ? NULL : rank_of, all_ranks, &permuted), PLAIT_ERROR_ARGUMENT,
        "rank_of: is NULL");
  FAILS(plait_permute(MPI_COMM_WORLD, rank_of, all_ranks + last, &permuted), PLAIT_ERROR_ARGUMENT, "count: is");
  FAILS(plait_permute(MPI_COMM_WORLD, rank_of, all_ranks, last ? NULL : &permuted), PLAIT_ERROR_ARGUMENT,
        "permuted: is NULL");
  rank_of[0] = all_ranks;
  FAILS(plait_permute(MPI_COMM_WORLD, rank_of, all_ranks, &permuted), PLAIT_ERROR_ARGUMENT, "rank_of[0]: is");
  if (all_ranks > 1) {
    rank_of[0] = 1;
    FAILS(plait_permute(MPI_COMM_WORLD, rank_of, all_ranks, &permuted), PLAIT_ERROR_ARGUMENT,
          "rank_of[1]: is 1 once more");
    rank_of[0] = last;
    rank_of[1] = 1 - last;
    FAILS(plait_permute(MPI_COMM_WORLD, rank_of, all_ranks, &permuted), PLAIT_ERROR_ARGUMENT, "rank_of: expected each");
  }
  CHECK(permuted == MPI_COMM_NULL);
  FAILS(plait_permute(MPI_COMM_NULL, rank_of, all_ranks, &permuted), PLAIT_ERROR_ARGUMENT, "MPI_COMM_NULL");
  MPI_Fint none = 0;
  FAILS(plait_permute_f(INT32_MAX, rank_of, all_ranks, &none), PLAIT_ERROR_ARGUMENT, "is no communicator");
  free_pair();
}
