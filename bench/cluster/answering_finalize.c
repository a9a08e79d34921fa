/* Preloaded into MPICH's ranks on the emulated cluster: in MPI_Finalize, a rank that waits for the process manager goes
 * on answering its peers.
 *
 * MPICH 4.0 over UCX disconnects from every peer, which may need an answer of that peer, and then waits for all ranks
 * in a barrier of the process manager, reading from a socket: a rank that is there answers no one. So jobs of several
 * nodes hang at their end, half of those of 4 ranks and nearly all of 27. (Mended upstream in 2023 by leaving out the
 * barrier: https://github.com/pmodels/mpich/pull/6596.)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Of the thread in MPI_Finalize; the worker is UCX's, as long as it lives. */
static __thread bool finalizing;
static __thread bool answering;
static void* worker;

int MPI_Finalize(void);

/* The function that would have been called if it were not for this library. */
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

unsigned ucp_worker_progress(void* progressed) {
  static __typeof__(&ucp_worker_progress) next;
  if (next == NULL) next = NEXT(ucp_worker_progress);
  worker = progressed;
  return next(progressed);
}

void ucp_worker_destroy(void* destroyed) {
  worker = NULL;
  NEXT(ucp_worker_destroy)(destroyed);
}

static void answer_until_readable(int file) {
  const int milliseconds = 1; /* between answers: peers wait for few of them, and the cores are busy */
  struct pollfd readable = {.fd = file, .events = POLLIN};
  answering = true; /* UCX may read as well */
  while (poll(&readable, 1, milliseconds) == 0) ucp_worker_progress(worker);
  answering = false;
}

ssize_t read(int file, void* bytes, size_t count) {
  static __typeof__(&read) next;
  if (next == NULL) next = NEXT(read);
  if (finalizing && !answering && worker != NULL) answer_until_readable(file);
  return next(file, bytes, count);
}

int MPI_Finalize(void) {
  finalizing = true;
  const int status = NEXT(MPI_Finalize)();
  finalizing = false;
  return status;
}
