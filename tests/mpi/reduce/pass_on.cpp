// What is left to MPI: a program's own operations and types, two groups of ranks, nothing to reduce.
#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/reduce/program.hpp"

namespace {

constexpr int length = 100003;

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
  std::vector<int> in(length, rank + 5);
  std::vector<int> out(length);
  MPI_Allreduce(in.data(), out.data(), length, MPI_INT, op, MPI_COMM_WORLD);
  if (out.front() != 5 || out.back() != 5) complain("an operation of the program's own");
  MPI_Reduce_local(in.data(), out.data(), length, MPI_INT, op);
  if (out.back() != rank + 5) complain("an operation of the program's own, on one rank");
  MPI_Op_free(&op);
}

void check_own_type(int ranks) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_contiguous(2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(sum_pairs, 1, &op);
  std::vector<double> data(std::size_t{2} * length, 1.0);
  MPI_Allreduce(MPI_IN_PLACE, data.data(), length, type, op, MPI_COMM_WORLD);
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
  std::vector<double> in(length, is_low ? 1.0 : 2.0);
  std::vector<double> out(length);
  const int others = is_low ? ranks - ranks / 2 : ranks / 2;
  for (int i = 0; i < 10; ++i) {
    MPI_Allreduce(in.data(), out.data(), length, MPI_DOUBLE, MPI_SUM, both);
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

template <class Pair>
void check_other(const std::string& what, const std::vector<Pair>& pairs, int best, int other) {
  for (const Pair& pair : pairs) {
    if (pair.value != best || pair.index != best) return complain(what);
    if (pair.other != other) return complain(what + ": padding");
  }
}

// Pair has a member `other` that MPI's type has no part for: a program may keep something there.
template <class Pair>
void check_pairs(const std::string& name, MPI_Datatype type, int rank, int ranks) {
  constexpr int size = 2101;
  const auto pairs = [](int number, int other) {
    Pair pair;
    pair.value = static_cast<decltype(pair.value)>(number);
    pair.index = number;
    pair.other = static_cast<decltype(pair.other)>(other);
    return std::vector<Pair>(size, pair);
  };
  auto in = pairs(rank, 100 + rank);
  auto out = pairs(-1, 200 + rank);
  MPI_Allreduce(in.data(), out.data(), size, type, MPI_MAXLOC, MPI_COMM_WORLD);
  check_other(name + ", MPI_Allreduce", out, ranks - 1, 200 + rank);
  MPI_Scan(in.data(), out.data(), size, type, MPI_MINLOC, MPI_COMM_WORLD);
  check_other(name + ", MPI_Scan", out, 0, 200 + rank);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(in.data(), out.data(), size, type, MPI_MAXLOC, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_other(name + ", MPI_Iallreduce", out, ranks - 1, 200 + rank);
  MPI_Ireduce(in.data(), out.data(), size, type, MPI_MINLOC, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_other(name + ", MPI_Ireduce", out, rank == 0 ? 0 : ranks - 1, 200 + rank);
  MPI_Allreduce(in.data(), out.data(), size, type, MPI_MAXLOC, MPI_COMM_SELF);
  check_other(name + ", MPI_Allreduce of one rank", out, rank, 200 + rank);
  MPI_Allreduce(MPI_IN_PLACE, in.data(), size, type, MPI_MINLOC, MPI_COMM_WORLD);
  check_other(name + ", MPI_Allreduce in place", in, 0, 100 + rank);
  in = pairs(5, 100);
  MPI_Reduce_local(in.data(), out.data(), size, type, MPI_MAXLOC);
  check_other(name + ", MPI_Reduce_local", out, 5, 200 + rank);
}

template <class Value>
struct OtherAtEnd {
  Value value;
  int index, other;
};
struct OtherBetween {
  short value, other;
  int index;
};

}  // namespace

void check_padding() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // More than a library may want to see before it takes an interest.
  std::vector<double> much(std::size_t{1} << 21);
  for (int i = 0; i < 2; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, much.data(), static_cast<int>(much.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  check_pairs<OtherAtEnd<double>>("MPI_DOUBLE_INT", MPI_DOUBLE_INT, rank, ranks);
  check_pairs<OtherAtEnd<long>>("MPI_LONG_INT", MPI_LONG_INT, rank, ranks);
  check_pairs<OtherAtEnd<long double>>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, rank, ranks);
  check_pairs<OtherBetween>("MPI_SHORT_INT", MPI_SHORT_INT, rank, ranks);
}

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
