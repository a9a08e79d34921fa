#include "cli/host/signals.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "plait/io/aside_file.hpp"
#include "plait/mpi/error.hpp"

namespace plait::cli {

namespace {

constexpr std::array stop_signals{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
// A terminal and a launcher may both send what one person asked for.
constexpr double seconds_of_echoes = 0.3;

std::atomic<int> requests = 0;  // that live
std::atomic<int> received = 0;
std::atomic<double> received_at = 0;
std::atomic<bool> is_resumable = false;
std::atomic<bool> tells_of_signals = false;
std::array<char, 256>
    begin_of_json{};  // empty: stderr alone is told. Signals come until the process ends, so no string

void mask_stop_signals(int how) noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : stop_signals) sigaddset(&set, signal);
  pthread_sigmask(how, &set, nullptr);
}

double now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

const char* name_of(int signal) noexcept {
  switch (signal) {
    case SIGHUP: return "SIGHUP";
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGUSR1: return "SIGUSR1";
    default: return "SIGUSR2";
  }
}

// In one write, as nothing else is safe here.
void say(int descriptor, std::initializer_list<const char*> words) noexcept {
  if (!tells_of_signals) return;
  std::array<char, 512> line{};
  std::size_t length = 0;
  for (const char* word : words) {
    const std::size_t size = std::min(std::strlen(word), line.size() - length);
    std::memcpy(line.data() + length, word, size);
    length += size;
  }
  [[maybe_unused]] const auto written = ::write(descriptor, line.data(), length);
}

void end_at_once(int signal) noexcept {
  io::remove_unfinished_files();
  const char* const what = " before it was done; incomplete files are removed";
  const char* const rest = is_resumable ? "; --resume goes on from the last checkpoint" : "";
  const int status = stopped_status(signal);
  say(STDERR_FILENO, {"plait: stopped by ", name_of(signal), what, rest, "\n"});
  if (begin_of_json[0] != '\0') {
    const std::array<char, 4> digits{static_cast<char>('0' + status / 100), static_cast<char>('0' + status / 10 % 10),
                                     static_cast<char>('0' + status % 10)};
    const char* const number = digits.data() + (status < 100 ? 1 : 0);
    say(STDOUT_FILENO,
        {begin_of_json.data(), "stopped by ", name_of(signal), what, rest, "\",\"exit_status\":", number, "}\n"});
  }
  ::_exit(status);
}

extern "C" void plait_on_stop_signal(int signal) {
  const int reason = errno;
  int first = 0;
  if (requests == 0) {
    end_at_once(signal);
  } else if (received.compare_exchange_strong(first, signal)) {
    received_at = now();
    say(STDERR_FILENO, {"plait: ", name_of(signal), ": stopping after this step; a second signal ends at once\n"});
  } else if (now() - received_at > seconds_of_echoes) {
    end_at_once(signal);
  }
  errno = reason;
}

}  // namespace

HeldStopSignals::HeldStopSignals() noexcept { mask_stop_signals(SIG_BLOCK); }

HeldStopSignals::~HeldStopSignals() { mask_stop_signals(SIG_UNBLOCK); }

void catch_stop_signals(bool tells) {
  tells_of_signals = tells;
  struct sigaction action{};
  action.sa_handler = plait_on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : stop_signals) {
    struct sigaction before{};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // as nohup and shells want it
  }
}

void tell_stops_on_stdout(const std::string& json_begin) {
  if (json_begin.size() < begin_of_json.size()) std::ranges::copy(json_begin, begin_of_json.begin());
}

void tell_no_more_stops() noexcept { tells_of_signals = false; }

void set_resumable(bool is) noexcept { is_resumable = is; }

int stopped_status(int signal) noexcept {
  const bool asks_for_later = signal == SIGUSR1 || signal == SIGUSR2;
  return asks_for_later && is_resumable ? status_resumable : 128 + signal;
}

Stopped::Stopped(int signal, const std::string& checkpoint)
    : signal_(signal),
      text_(is_resumable
                ? fmt::format("stopped by {}; --resume goes on from {}", name_of(signal), checkpoint)
                : fmt::format("stopped by {}; no checkpoint could be written to {}", name_of(signal), checkpoint)) {}

StopRequest::StopRequest(const mpi::Context& context)
    : comm_(mpi::Communicator::duplicate(context.comm().handle())), vote_(std::make_unique<Vote>()) {
  ++requests;
}

StopRequest::~StopRequest() {
  --requests;
  if (vote_->request == MPI_REQUEST_NULL) return;
  if (std::uncaught_exceptions() == 0) {
    MPI_Wait(&vote_->request, MPI_STATUS_IGNORE);
  } else {  // another rank may never vote, and MPI may write here until it ends
    static_cast<void>(vote_.release());
    static_cast<void>(comm_.release());
  }
}

int StopRequest::signal() {
  if (comm_.size() == 1) return received;
  if (vote_->request != MPI_REQUEST_NULL) {
    mpi::check(MPI_Wait(&vote_->request, MPI_STATUS_IGNORE), "MPI_Wait");
    if (vote_->any != 0) return vote_->any;
  }
  vote_->own = received;
  mpi::check(MPI_Iallreduce(&vote_->own, &vote_->any, 1, MPI_INT, MPI_MAX, comm_.handle(), &vote_->request),
             "MPI_Iallreduce");
  return 0;
}

}  // namespace plait::cli
