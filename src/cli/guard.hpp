#pragma once

#include <exception>
#include <functional>
#include <string>

#include "plait/mpi/context.hpp"

namespace plait::cli {

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

}  // namespace plait::cli
