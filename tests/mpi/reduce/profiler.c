/* A profiler, as there are many: it intercepts some of MPI's reductions and says on stderr how often they were called.
 */
#include <stdio.h>

#include <mpi.h>

static int allreduces;
static int others;

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  ++others;
  return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  ++others;
  return PMPI_Comm_dup(comm, copy);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "profiler: %d times MPI_Allreduce, %d others\n", allreduces, others);
  return PMPI_Finalize();
}
