// What is left to MPI: a program's own operations and types, two groups of ranks, nothing to reduce.
#include <mpi.h>

#include <vector>

#include "mpi/reduce/program.hpp"

namespace {

constexpr int n = 100003;

// Not commutative: 2x2 matrices would do, but the left one is enough.
extern "C" void left(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] = static_cast<int*>(in)[i];
}

extern "C" void sum_pairs(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < 2 * *count; ++i) static_cast<double*>(inout)[i] += static_cast<double*>(in)[i];
}

void check_own_operation(int rank) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(left, 0, &op);
  std::vector<int> in(n, rank + 5);
  std::vector<int> out(n);
  MPI_Allreduce(in.data(), out.data(), n, MPI_INT, op, MPI_COMM_WORLD);
  if (out.front() != 5 || out.back() != 5) complain("an operation of the program's own");
  MPI_Reduce_local(in.data(), out.data(), n, MPI_INT, op);
  if (out.back() != rank + 5) complain("an operation of the program's own, on one rank");
  MPI_Op_free(&op);
}

void check_own_type(int ranks) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_contiguous(2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(sum_pairs, 1, &op);
  std::vector<double> data(std::size_t{2} * n, 1.0);
  MPI_Allreduce(MPI_IN_PLACE, data.data(), n, type, op, MPI_COMM_WORLD);
  if (data.front() != ranks || data.back() != ranks) complain("a type of the program's own");
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

void check_two_groups(int rank, int ranks) {
  if (ranks < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  const bool is_low = rank < ranks / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low ? 0 : 1, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? ranks / 2 : 0, 7, &both);
  std::vector<double> in(n, is_low ? 1.0 : 2.0);
  std::vector<double> out(n);
  const int others = is_low ? ranks - ranks / 2 : ranks / 2;
  for (int i = 0; i < 10; ++i) {
    MPI_Allreduce(in.data(), out.data(), n, MPI_DOUBLE, MPI_SUM, both);
    if (out.back() != others * (is_low ? 2.0 : 1.0)) complain("two groups");
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

void check_nothing(int rank, int ranks) {
  double untouched = 3.0;
  std::vector<int> counts(static_cast<std::size_t>(ranks), 0);
  MPI_Reduce_local(&untouched, &untouched + 1, 0, MPI_DOUBLE, MPI_SUM);
  MPI_Allreduce(MPI_IN_PLACE, &untouched, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &untouched, &untouched, 0, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce_scatter(MPI_IN_PLACE, &untouched, counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, &untouched, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (untouched != 3.0) complain("nothing to reduce");
}

}  // namespace

void check_pass_on() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check_own_operation(rank);
  check_own_type(ranks);
  check_two_groups(rank, ranks);
  check_nothing(rank, ranks);
}
