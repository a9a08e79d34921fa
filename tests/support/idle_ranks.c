/* Preloaded into the ranks of a test: a rank that waits gives its core to others instead of spinning, so that the ranks
 * that have work get the cores, as they would if every rank had its own.
 *
 * Where an idle rank can be met: Open MPI calls sched_yield between polls when mpi_yield_when_idle is set; MPICH (ch4
 * over UCX) polls ucp_worker_progress, which returns 0 when there was nothing to do.
 *
 * Offering the core is cheap, and enough where some rank of the job has work, but polls away what other jobs could use:
 * a rank offers its core PLAIT_IDLE_YIELDS times in a row, 0 by default, and then sleeps between polls.
 *
 * The kernel offers a core to processes of the same session only, where it schedules by sessions (autogroup). MPICH's
 * launcher begins one for each rank; preloaded there, this keeps the ranks of a job in one.
 *
 * PLAIT_IDLE_MICROSECONDS is the length of the sleep, 20 by default; 0 leaves the library alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Polls of MPICH that find nothing before the first offer of the core: a message that is about to arrive costs none. */
enum { polls_before_yield = 20 };

/* Offers that are further apart had work between them. */
enum { nanoseconds_apart = 20000 };

static long sleep_microseconds = 20;
static long yields_before_sleep = 0;
static __thread long yields; /* in a row */

static long number_in(const char* variable, long otherwise) {
  const char* text = getenv(variable);
  const long number = text == NULL ? otherwise : strtol(text, NULL, 10);
  return number < 0 || number > 999999 ? 0 : number;
}

__attribute__((constructor)) static void read_settings(void) {
  sleep_microseconds = number_in("PLAIT_IDLE_MICROSECONDS", sleep_microseconds);
  yields_before_sleep = number_in("PLAIT_IDLE_YIELDS", yields_before_sleep);
  /* The kernel may prolong a sleep by the timer slack, 50 microseconds unless set. */
  if (sleep_microseconds > 0) prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
}

static int let_others_run(void) {
  const struct timespec duration = {0, sleep_microseconds * 1000};
  if (sleep_microseconds == 0 || yields < yields_before_sleep) {
    ++yields;
    return (int)syscall(SYS_sched_yield);
  }
  nanosleep(&duration, NULL);
  return 0;
}

static long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

int sched_yield(void) {
  static __thread long end_of_last;
  if (nanoseconds() - end_of_last > nanoseconds_apart) yields = 0;
  const int outcome = let_others_run();
  end_of_last = nanoseconds();
  return outcome;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*);
  static __thread int idle_polls;
  if (progress == NULL) *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned events = progress(worker);
  if (events != 0 || sleep_microseconds == 0) {
    idle_polls = 0;
    yields = 0;
  } else if (++idle_polls > polls_before_yield) {
    idle_polls = polls_before_yield;
    let_others_run();
  }
  return events;
}

pid_t setsid(void) {
  static pid_t (*begin_session)(void);
  if (strcmp(program_invocation_short_name, "hydra_pmi_proxy") == 0) return setpgid(0, 0) == 0 ? getpid() : -1;
  if (begin_session == NULL) *(void**)&begin_session = dlsym(RTLD_NEXT, "setsid");
  return begin_session();
}
