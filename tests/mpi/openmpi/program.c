/* An MPI program that knows nothing of plait: all predefined reductions in all ways, against plain loops. Rank 0 prints
   how many were checked, and each that was wrong. `program errors` prints what MPI says to reductions that are not
   defined instead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "elements.h"
#include "types.h"

enum { MOST = 301, LARGEST = 32, ROOT = 0 }; /* elements in a call, bytes in one of them, the rank that gets results */

static int size, rank;
static int checked = 0, wrong = 0;

static MPI_Op handle_of(enum operation op) {
  const MPI_Op handles[] = {MPI_MAX,  MPI_MIN,  MPI_SUM, MPI_PROD, MPI_BAND,   MPI_BOR,
                            MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MAXLOC, MPI_MINLOC};
  return handles[op];
}

static void count(int is_right, const char* what, const char* type, int op, int n) {
  ++checked;
  if (is_right) return;
  ++wrong;
  printf("rank %d: %s of %d %s by operation %d is wrong\n", rank, what, n, type, op);
}

/* The reduction over ranks first, ..., last of n elements from `begin` on. */
static void expect(const struct kind* kind, enum operation op, int last, int begin, int n, void* expected) {
  static _Alignas(64) char buffer[MOST * LARGEST];
  for (int from = 0; from <= last; ++from) {
    kind->make(from, begin + n, buffer);
    const char* const part = buffer + (size_t)begin * kind->bytes;
    if (from == 0) {
      memcpy(expected, part, (size_t)n * kind->bytes);
    } else {
      kind->reduce(op, n, part, expected);
    }
  }
}

static void check_type(const char* name, MPI_Datatype type, const struct kind* kind, enum operation op, int n) {
  static _Alignas(64) char mine[MOST * LARGEST], result[MOST * LARGEST], expected[MOST * LARGEST];
  const size_t bytes = (size_t)n * kind->bytes;
  const MPI_Op handle = handle_of(op);
  kind->make(rank, n, mine);
  expect(kind, op, size - 1, 0, n, expected);

  MPI_Allreduce(mine, result, n, type, handle, MPI_COMM_WORLD);
  count(kind->equal(n, result, expected), "MPI_Allreduce", name, op, n);

  memcpy(result, mine, bytes);
  MPI_Reduce(rank == ROOT ? MPI_IN_PLACE : mine, result, n, type, handle, ROOT, MPI_COMM_WORLD);
  count(rank != ROOT || kind->equal(n, result, expected), "MPI_Reduce in place", name, op, n);

  MPI_Request request;
  MPI_Iallreduce(mine, result, n, type, handle, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  count(kind->equal(n, result, expected), "MPI_Iallreduce", name, op, n);

  MPI_Ireduce(mine, result, n, type, handle, ROOT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  count(rank != ROOT || kind->equal(n, result, expected), "MPI_Ireduce", name, op, n);

  expect(kind, op, rank, 0, n, expected);
  MPI_Scan(mine, result, n, type, handle, MPI_COMM_WORLD);
  count(kind->equal(n, result, expected), "MPI_Scan", name, op, n);

  const int share = n / size;
  expect(kind, op, size - 1, rank * share, share, expected);
  MPI_Reduce_scatter_block(mine, result, share, type, handle, MPI_COMM_WORLD);
  count(kind->equal(share, result, expected), "MPI_Reduce_scatter_block", name, op, share);

  /* Of one process. */
  kind->make(size, n, expected);
  memcpy(result, expected, bytes);
  kind->reduce(op, n, mine, expected);
  MPI_Reduce_local(mine, result, n, type, handle);
  count(kind->equal(n, result, expected), "MPI_Reduce_local", name, op, n);
}

static void check_accumulate(const char* name, MPI_Datatype type, const struct kind* kind, enum operation op, int n) {
  static _Alignas(64) char mine[MOST * LARGEST], expected[MOST * LARGEST];
  char* memory = NULL;
  MPI_Win window;
  const size_t bytes = (size_t)n * kind->bytes;
  MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  kind->make(size, n, memory);
  memcpy(expected, memory, bytes);
  MPI_Win_fence(0, window);
  kind->make(rank, n, mine);
  MPI_Accumulate(mine, n, type, (rank + 1) % size, 0, n, type, handle_of(op), window);
  MPI_Win_fence(0, window);
  kind->make((rank + size - 1) % size, n, mine);
  kind->reduce(op, n, mine, expected);
  count(kind->equal(n, memory, expected), "MPI_Accumulate", name, op, n);
  MPI_Win_free(&window);
}

static void check_operations(const char* name, MPI_Datatype type, const struct kind* kind, int operations) {
  for (int op = 0; op < OPERATIONS; ++op) {
    if ((operations >> op & 1) == 0) continue;
    check_type(name, type, kind, op, MOST);
    check_type(name, type, kind, op, 1);
    check_type(name, type, kind, op, 0);
  }
}

#define CHECK(operations, type, kind) check_operations(#type, MPI_##type, &(kind), operations);
#define CHECK_INTEGER(type, kind) CHECK(ARITHMETIC_OPERATIONS | BITWISE_OPERATIONS | LOGICAL_OPERATIONS, type, kind)
#define CHECK_FORTRAN_INTEGER(type, kind) CHECK(ARITHMETIC_OPERATIONS | BITWISE_OPERATIONS, type, kind)
#define CHECK_FLOAT(type, kind) CHECK(ARITHMETIC_OPERATIONS, type, kind)
#define CHECK_COMPLEX(type, kind) CHECK(COMPLEX_OPERATIONS, type, kind)
#define CHECK_BOOLEAN(type, kind) CHECK(LOGICAL_OPERATIONS, type, kind)
#define CHECK_PAIR(type, kind) CHECK(LOCATION_OPERATIONS, type, kind)

static void check_predefined(void) {
  INTEGERS(CHECK_INTEGER)
  FORTRAN_INTEGERS(CHECK_FORTRAN_INTEGER)
  FLOATS(CHECK_FLOAT)
  COMPLEX_NUMBERS(CHECK_COMPLEX)
  BOOLEANS(CHECK_BOOLEAN)
  PAIRS(CHECK_PAIR)
  CHECK(BITWISE_OPERATIONS, BYTE, u8)
  check_accumulate("DOUBLE", MPI_DOUBLE, &f64, SUM, MOST);
  check_accumulate("LONG", MPI_LONG, &i64, BXOR, MOST);
  check_accumulate("INTEGER8", MPI_INTEGER8, &i64, MAX, MOST);
}

/* The scalar comparison, whatever the place: b where a is not better, so also where they are unordered. */
static void check_not_a_number(void) {
  enum { N = 135 };
  for (int at = 0; at < N; ++at) {
    double in[N], max[N], min[N];
    for (int i = 0; i < N; ++i) in[i] = max[i] = min[i] = 1;
    in[at] = NAN;
    max[(at + 1) % N] = min[(at + 1) % N] = NAN;
    MPI_Reduce_local(in, max, N, MPI_DOUBLE, MPI_MAX);
    MPI_Reduce_local(in, min, N, MPI_DOUBLE, MPI_MIN);
    count(max[at] == 1 && min[at] == 1, "a bound with NaN", "DOUBLE", MAX, at);
    count(isnan(max[(at + 1) % N]) && isnan(min[(at + 1) % N]), "a bound of NaN", "DOUBLE", MAX, at);
  }
}

/* Triples (a, b, c) that stand for x -> a x + b, composed, and c added: associative, but not commutative. */
static void compose(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) {
    const int* const x = (const int*)in + 3 * i;
    int* const y = (int*)inout + 3 * i;
    y[1] = x[0] * y[1] + x[1];
    y[0] = x[0] * y[0];
    y[2] = x[2] + y[2];
  }
}

static void make_triples(int from, int* triples) {
  for (int i = 0; i < 6; ++i) triples[i] = from % 3 + i;
}

/* An operation of the user on a type of the user: nothing that plait knows. */
static void check_user_operation(void) {
  MPI_Op op;
  MPI_Datatype triple;
  MPI_Op_create(compose, 0, &op);
  MPI_Type_contiguous(3, MPI_INT, &triple);
  MPI_Type_commit(&triple);
  int mine[6], result[6], expected[6], n = 2;
  make_triples(size - 1, expected);
  for (int from = size - 2; from >= 0; --from) {
    make_triples(from, mine);
    compose(mine, expected, &n, &triple);
  }
  make_triples(rank, mine);
  MPI_Allreduce(mine, result, n, triple, op, MPI_COMM_WORLD);
  count(memcmp(result, expected, sizeof expected) == 0, "a user's operation", "triple", OPERATIONS, n);
  MPI_Type_free(&triple);
  MPI_Op_free(&op);
}

static void print_errors(void) {
  const MPI_Datatype types[] = {MPI_BYTE,       MPI_DOUBLE, MPI_INT, MPI_C_BOOL, MPI_C_DOUBLE_COMPLEX,
                                MPI_DOUBLE_INT, MPI_CHAR};
  const MPI_Op others[] = {MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL};
  long double in[8] = {0}, inout[8] = {0};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    for (int op = 0; op < OPERATIONS + 3; ++op) {
      int class = 0;
      const MPI_Op handle = op < OPERATIONS ? handle_of(op) : others[op - OPERATIONS];
      MPI_Error_class(MPI_Allreduce(in, inout, 1, types[i], handle, MPI_COMM_WORLD), &class);
      if (rank == ROOT) printf("%d%c", class, op + 1 < OPERATIONS + 3 ? ' ' : '\n');
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "errors") == 0) {
    print_errors();
  } else {
    check_predefined();
    check_not_a_number();
    check_user_operation();
    int all_wrong = 0;
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == ROOT) printf("checked %d, %d wrong\n", checked, all_wrong);
    wrong = all_wrong;
  }
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
