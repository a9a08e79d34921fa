/* Preloaded into the ranks of a test: a rank that waits sleeps for some microseconds instead of spinning, so that the
 * ranks that have work get the cores, as they would if every rank had its own. With more ranks than cores MPICH
 * otherwise takes some ten times as long, and any timing is noise.
 *
 * Where an idle rank can be met: Open MPI calls sched_yield between polls when mpi_yield_when_idle is set; MPICH (ch4
 * over UCX) polls ucp_worker_progress, which returns 0 when there was nothing to do.
 *
 * PLAIT_IDLE_MICROSECONDS is the length of the sleep, 20 by default; 0 leaves the library alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* Polls that find nothing before the first sleep: a message that is about to arrive costs no sleep. */
enum { polls_before_sleep = 20 };

static long sleep_microseconds = 20;

__attribute__((constructor)) static void read_settings(void) {
  const char* text = getenv("PLAIT_IDLE_MICROSECONDS");
  if (text != NULL) sleep_microseconds = strtol(text, NULL, 10);
  if (sleep_microseconds < 0 || sleep_microseconds > 999999) sleep_microseconds = 0;
  /* The kernel may prolong a sleep by the timer slack, 50 microseconds unless set. */
  if (sleep_microseconds > 0) prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
}

static void sleep_a_little(void) {
  const struct timespec duration = {0, sleep_microseconds * 1000};
  nanosleep(&duration, NULL);
}

int sched_yield(void) {
  if (sleep_microseconds > 0) sleep_a_little();
  return 0;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  static __thread int idle_polls;
  if (progress == NULL) *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned events = progress(worker);
  if (events != 0 || sleep_microseconds == 0) {
    idle_polls = 0;
  } else if (++idle_polls > polls_before_sleep) {
    idle_polls = polls_before_sleep;
    sleep_a_little();
  }
  return events;
}
