// Jobs that fail in one way or another, under the guard of the command: guard_probe HOW.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"

#include "cli/host/guard.hpp"
#include "cli/host/values.hpp"

namespace {

using namespace plait;

void fail(const std::string& how, mpi::Context& context) {
  const bool is_last = context.rank() == context.size() - 1;
  if (how == "all alike") mpi::agreed(context, [] { throw FileError("x.npy: is gone"); });
  if (how == "misuse") throw cli::UsageError("that is no option");
  if (how == "the last one at the end" && is_last) throw std::runtime_error("the last rank failed");
  if (how == "a consequence on rank 0") {
    if (is_last) throw FileError("the reason");
    throw PeerFailed(context.size() - 1, "a consequence");
  }
  if (how == "the last one while others wait") {
    if (is_last) throw std::runtime_error("nobody else knows");
    mpi::barrier(context.comm());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
  const std::string how = argc > 1 ? argv[1] : "";
  if (argc > 2) cli::print_failures_as_json(argv[2]);
  const int status = cli::run_guarded([&](mpi::Context& context) { fail(how, context); });
  std::printf("%d\n", status);
  std::fflush(stdout);
  return status;
}
