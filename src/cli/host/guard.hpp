#pragma once

#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// A job that ended without a result, on all ranks alike: `status` is the one that its report would have had.
class NoResult : public Error {
 public:
  NoResult(std::string status, const std::string& text) : Error(ErrorKind::other, text), status_(std::move(status)) {}
  [[nodiscard]] const std::string& status() const noexcept { return status_; }

 private:
  std::string status_;
};

inline constexpr int status_failed = 1;
inline constexpr int status_usage = 2;

/// Runs a job on every rank and ends it in one way on all of them: the same exit status, and what went wrong printed
/// once, by the lowest rank that knows the reason. Collective over MPI_COMM_WORLD.
///
/// A rank that failed waits some seconds for the others to end too. Where they don't, because they know nothing of the
/// failure and wait for this rank, it says who it is and aborts them all.
[[nodiscard]] int run_guarded(const std::function<void(mpi::Context&)>& job);

/// From now on failures are also printed to stdout, as a JSON object with `command`, `error` and `exit_status`, and
/// the `status` of a job that ended without a result.
///
/// \param first  the first word of the command line: null is told as the command where it is an option
void print_failures_as_json(const std::string& first);

/// Prints "plait: error: ..." for a failure and returns the exit status that belongs to it.
int print_failure(const std::exception_ptr& failure);

/// What the launcher told this process through its environment: known without MPI, also under the launcher of an MPI
/// that plait was not built for.
struct Launch {
  int rank = 0;
  int size = 1;
  bool is_own = true;  // else another MPI's, or merely what one left in the environment
};
[[nodiscard]] Launch launch_from_environment();

/// How this process was started.
struct Start {
  int argc;
  char** argv;
  Launch launch;
};

/// Initialises MPI and runs a job on all ranks, guarded; ends with an error where they were started with different
/// arguments, as ranks that did different things would wait for each other for ever. Returns the exit status.
///
/// \param misuse  what is wrong with these arguments, instead of the job; null: nothing
[[nodiscard]] int run_under_mpi(const Start& start, const std::exception_ptr& misuse,
                                const std::function<void(mpi::Context&)>& job);

/// Launchers end the other processes when the first one fails, and the one that tells why is not to be cut short: rank
/// 0 prints the failure, the others wait a moment. Returns the exit status.
[[nodiscard]] int end_failed(const Launch& launch, const std::exception_ptr& failure);

}  // namespace plait::cli
