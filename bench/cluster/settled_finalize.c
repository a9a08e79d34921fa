/* Preloaded into MPICH's ranks on the emulated cluster: MPI_Finalize begins once all connections are settled.
 *
 * MPICH 4.0 over UCX disconnects from each peer, which may need the peer's answer, and then waits for all ranks in a
 * barrier of the process manager, in which a rank answers no one: a job of several nodes hangs at its end every other
 * time, when a connection was first used by MPI_Finalize's own barrier. (Mended upstream:
 * https://github.com/pmodels/mpich/pull/6596.) Here, the barriers before it open those connections, and between them
 * ranks answer what they are asked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include <mpi.h>

enum { rounds = 2 };
static const double answering_seconds = 0.02;

/* By name, since the library is preloaded into programs without MPI, too: the shell that starts a rank, say. */
#define MPI_FUNCTION(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))

static void answer_for_a_while(void) {
  const double end = MPI_FUNCTION(PMPI_Wtime)() + answering_seconds;
  int found = 0;
  while (MPI_FUNCTION(PMPI_Wtime)() < end) {
    MPI_FUNCTION(PMPI_Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  }
}

int MPI_Finalize(void) {
  for (int round = 0; round < rounds; ++round) {
    MPI_FUNCTION(PMPI_Barrier)(MPI_COMM_WORLD);
    answer_for_a_while();
  }
  return MPI_FUNCTION(PMPI_Finalize)();
}
