#pragma once

#include <mpi.h>

#include <exception>
#include <memory>
#include <string>

#include "plait/mpi/communicator.hpp"
#include "plait/mpi/context.hpp"

/// Jobs that are told to stop by SIGHUP, SIGINT, SIGTERM, or by SIGUSR1 or SIGUSR2, which batch systems send before
/// time is up.
namespace plait::cli {

/// The exit status of a job that can be resumed, as BSD's sysexits.h calls a failure that is temporary.
inline constexpr int status_resumable = 75;

/// As long as it lives these signals wait, also for the program that this one becomes by exec.
class HeldStopSignals {
 public:
  HeldStopSignals() noexcept;
  HeldStopSignals(const HeldStopSignals&) = delete;
  HeldStopSignals& operator=(const HeldStopSignals&) = delete;
  ~HeldStopSignals();
};

/// From now on these signals end this process after it has removed what it had not finished writing, said so in a line,
/// if it is to tell, and with the status that `stopped_status` gives; where a `StopRequest` lives, at the next step. A
/// second one ends it at once.
void catch_stop_signals(bool tells);

/// From now on one that ends this process also writes what it says to stdout, in a JSON object that begins so:
/// {"command":"purify","error":"
void tell_stops_on_stdout(const std::string& json_begin);

/// What ended this process is said: signals that end it are told no more.
void tell_no_more_stops() noexcept;

/// Whether there is a checkpoint to go on from.
void set_resumable(bool is) noexcept;

/// 128 and the signal's number, but 75 for SIGUSR1 and SIGUSR2 if there is a checkpoint.
[[nodiscard]] int stopped_status(int signal) noexcept;

/// A job stopped between two steps, as it was told to; on all ranks alike.
class Stopped : public std::exception {
 public:
  /// \param checkpoint  its file
  Stopped(int signal, const std::string& checkpoint);
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] int status() const noexcept { return stopped_status(signal_); }

 private:
  int signal_;
  std::string text_;
};

/// Lives while a job can stop between two steps.
class StopRequest {
 public:
  /// Collective over `context`.
  explicit StopRequest(const mpi::Context& context);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  /// A signal that some rank had had when it made its last call but one, 0 if none had: the same on all ranks. To be
  /// called once a step by all of them; what they tell each other travels beside the messages of the step.
  [[nodiscard]] int signal();

 private:
  struct Vote {
    int own = 0;
    int any = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  mpi::Communicator comm_;
  std::unique_ptr<Vote> vote_;
};

}  // namespace plait::cli
