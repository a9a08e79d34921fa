#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <string>

#include "mpi/reduce/program.hpp"

namespace {

std::atomic<int> wrong = 0;  // threads complain, too

}  // namespace

void complain(const std::string& what) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (++wrong <= 20) std::fputs(("rank " + std::to_string(rank) + " is wrong: " + what + "\n").c_str(), stderr);
}

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> parts{{"results", check_results},
                                                {"errors", print_errors},
                                                {"pass-on", check_pass_on},
                                                {"padding", check_padding},
                                                {"integers", check_integers},
                                                {"nonblocking", check_nonblocking},
                                                {"persistent", check_persistent},
                                                {"more-of-persistent", check_more_of_persistent},
                                                {"different-counts", check_different_counts},
                                                {"calls-wait-for-none", check_that_calls_wait_for_none},
                                                {"first-call", check_first_call},
                                                {"communicators", check_communicators},
                                                {"spawned", check_spawned},
                                                {"no-descriptors", check_no_descriptors},
                                                {"threads", check_threads},
                                                {"exit-meanwhile", exit_meanwhile},
                                                {"be-killed-meanwhile", be_killed_meanwhile},
                                                {"abort-between", abort_between},
                                                {"reduce-at-exit", reduce_at_exit},
                                                {"reproducible", check_reproducible},
                                                {"reproducible-on-many", check_reproducible_on_many},
                                                {"reproducible-persistent", check_persistent_reproducible},
                                                {"not-reproducible", check_not_reproducible},
                                                {"few-sums", check_few_sums}};
  const std::string part = argc == 2 ? argv[1] : "";
  if (parts.count(part) == 0) return 2;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, part == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  parts.at(part)();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
