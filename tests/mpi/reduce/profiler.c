/* A profiler, as there are many: it intercepts some of MPI's reductions and says on stderr how often they were called.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static void say(const char* routine) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "profiler: %s\n", routine);
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  say("MPI_INIT");
  return code;
}

/* Rank 1 may take its time, as those that write files do. */
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  const char* const seconds = getenv("PROFILER_SECONDS");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && seconds != NULL) sleep((unsigned)atoi(seconds));
  return code;
}

/* As many as PROFILER_FAILURES says fail at first, as they do where MPI has no communicators left. */
int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  static int calls;
  const char* const failures = getenv("PROFILER_FAILURES");
  if (failures != NULL && calls++ < atoi(failures)) return MPI_ERR_INTERN;
  int (*next)(MPI_Comm, int, int, MPI_Info, MPI_Comm*) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Comm_split_type");
  return next(comm, type, key, info, part);
}

int MPI_Comm_free(MPI_Comm* comm) {
  say("MPI_COMM_FREE");
  return PMPI_Comm_free(comm);
}

/* By the names that gfortran has for them. MPICH's Fortran layer calls the above instead. */
#if defined(OPEN_MPI)

void pmpi_init_(int* error);
void pmpi_comm_free_(int* comm, int* error);
#pragma weak pmpi_init_
#pragma weak pmpi_comm_free_

void mpi_init_(int* error) {
  pmpi_init_(error);
  say("MPI_INIT");
}

void mpi_comm_free_(int* comm, int* error) {
  say("MPI_COMM_FREE");
  pmpi_comm_free_(comm, error);
}

#endif

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "profiler: %d times MPI_Allreduce, %d others\n", allreduces, others);
  return PMPI_Finalize();
}
