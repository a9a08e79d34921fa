#include "bench/reduce/mpi_reductions.hpp"

#include <array>

namespace plait::bench {

namespace {

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// About what summing up two arrays of n takes, in registers.
double compute(int n) {
  double value = n;
  for (int i = 0; i < n; ++i) value = value * 0.999 + 1;  // each step waits for the one before
  return value;
}

/// Begins a sum on all ranks, computes, and waits.
template <bool by_library, bool computes>
int allreduce_later(const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if constexpr (by_library) {
    PMPI_Iallreduce(in, out, n, type, MPI_SUM, comm, &request);
  } else {
    MPI_Iallreduce(in, out, n, type, MPI_SUM, comm, &request);
  }
  if constexpr (computes) {
    volatile double kept = compute(n);
    static_cast<void>(kept);
  }
  return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

constexpr Reduced whole([[maybe_unused]] int rank, int ranks, Index n) { return {ranks, 0, n}; }
constexpr Reduced at_root(int rank, int ranks, Index n) { return {ranks, 0, rank == 0 ? n : 0}; }
constexpr Reduced block(int rank, int ranks, Index n) { return {ranks, rank * (n / ranks), n / ranks}; }
constexpr Reduced up_to(int rank, [[maybe_unused]] int ranks, Index n) { return {rank + 1, 0, n}; }
constexpr Reduced before(int rank, [[maybe_unused]] int ranks, Index n) { return {rank, 0, rank == 0 ? 0 : n}; }

constexpr std::array reductions{
    MpiReduction{"allreduce",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Allreduce(in, out, n, type, MPI_SUM, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Allreduce(in, out, n, type, MPI_SUM, comm);
                 },
                 whole, true},
    MpiReduction{"reduce",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Reduce(in, out, n, type, MPI_SUM, 0, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Reduce(in, out, n, type, MPI_SUM, 0, comm);
                 },
                 at_root, true},
    MpiReduction{"reduce-scatter",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Reduce_scatter_block(in, out, n / size_of(comm), type, MPI_SUM, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Reduce_scatter_block(in, out, n / size_of(comm), type, MPI_SUM, comm);
                 },
                 block, true},
    MpiReduction{"scan",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Scan(in, out, n, type, MPI_SUM, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Scan(in, out, n, type, MPI_SUM, comm);
                 },
                 up_to, true},
    MpiReduction{"exscan",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Exscan(in, out, n, type, MPI_SUM, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Exscan(in, out, n, type, MPI_SUM, comm);
                 },
                 before, true},
    MpiReduction{"iallreduce", allreduce_later<false, false>, allreduce_later<true, false>, whole, false},
    MpiReduction{"iallreduce-compute", allreduce_later<false, true>, allreduce_later<true, true>, whole, false},
    MpiReduction{"ireduce",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   MPI_Request request = MPI_REQUEST_NULL;
                   MPI_Ireduce(in, out, n, type, MPI_SUM, 0, comm, &request);
                   return PMPI_Wait(&request, MPI_STATUS_IGNORE);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   MPI_Request request = MPI_REQUEST_NULL;
                   PMPI_Ireduce(in, out, n, type, MPI_SUM, 0, comm, &request);
                   return PMPI_Wait(&request, MPI_STATUS_IGNORE);
                 },
                 at_root, false}};

}  // namespace

std::span<const MpiReduction> mpi_reductions() noexcept { return reductions; }

}  // namespace plait::bench
