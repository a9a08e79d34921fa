// One rank ends while the others wait for it in a reduction, or it in one itself.
#include <sys/types.h>
#include <unistd.h>

#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "mpi/reduce/program.hpp"

namespace {

constexpr int n = 600001;
constexpr int calls_before = 6;  // as many as let plait begin
constexpr int status = 3;

int start() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (std::printf("process %ld\n", static_cast<long>(getpid())) < 0) complain("stdout");
  std::fflush(stdout);
  return rank;
}

// Never comes back.
void reduce_for_ever(int calls_of_last) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> sum(n, 1.0);
  for (int call = 0;; ++call) {
    if (rank == ranks - 1 && call == calls_of_last) MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Allreduce(MPI_IN_PLACE, sum.data(), call % 4 == 3 ? 10 : n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
}

void end_meanwhile(void (*end)()) {
  const int rank = start();
  if (rank == 1) {
    std::thread([end] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      end();
    }).detach();
  }
  reduce_for_ever(-1);
}

}  // namespace

void exit_meanwhile() {
  end_meanwhile([] { _exit(status); });
}

void be_killed_meanwhile() {
  end_meanwhile([] { std::raise(SIGKILL); });
}

void abort_between() {
  start();
  reduce_for_ever(calls_before);
}

namespace {

// As programs that keep MPI in an object of their own end it: this one is older than anything that MPI_Init makes.
class EndsWithProgram {
 public:
  EndsWithProgram() = default;
  EndsWithProgram(const EndsWithProgram&) = delete;
  EndsWithProgram& operator=(const EndsWithProgram&) = delete;
  ~EndsWithProgram() {
    if (!is_wanted) return;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int call = 0; call < calls_before; ++call) {
      std::vector<double> sum(n, 1.0);
      MPI_Allreduce(MPI_IN_PLACE, sum.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      if (sum.front() != ranks || sum.back() != ranks) _exit(status);
    }
    MPI_Finalize();
  }

  bool is_wanted = false;
};
EndsWithProgram at_the_end;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

void reduce_at_exit() {
  at_the_end.is_wanted = true;
  std::exit(0);
}
