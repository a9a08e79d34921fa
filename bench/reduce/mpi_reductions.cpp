#include "bench/reduce/mpi_reductions.hpp"

#include <array>

namespace plait::bench {

namespace {

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
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
                 whole},
    MpiReduction{"reduce",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Reduce(in, out, n, type, MPI_SUM, 0, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Reduce(in, out, n, type, MPI_SUM, 0, comm);
                 },
                 at_root},
    MpiReduction{"reduce-scatter",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Reduce_scatter_block(in, out, n / size_of(comm), type, MPI_SUM, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Reduce_scatter_block(in, out, n / size_of(comm), type, MPI_SUM, comm);
                 },
                 block},
    MpiReduction{"scan",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Scan(in, out, n, type, MPI_SUM, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Scan(in, out, n, type, MPI_SUM, comm);
                 },
                 up_to},
    MpiReduction{"exscan",
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return MPI_Exscan(in, out, n, type, MPI_SUM, comm);
                 },
                 [](const void* in, void* out, int n, MPI_Datatype type, MPI_Comm comm) {
                   return PMPI_Exscan(in, out, n, type, MPI_SUM, comm);
                 },
                 before}};

}  // namespace

std::span<const MpiReduction> mpi_reductions() noexcept { return reductions; }

}  // namespace plait::bench
