#include "cli/host/guard.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

#include "plait/base/backoff.hpp"
#include "plait/base/random.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/error.hpp"

#include "cli/host/signals.hpp"
#include "cli/host/text.hpp"
#include "cli/host/values.hpp"

namespace plait::cli {

namespace {

constexpr double patience_seconds = 5;
constexpr std::chrono::seconds time_to_be_read{1};

struct Failure {
  std::string text;
  int status = 0;
  bool is_consequence = false;  // another rank knows the reason
  bool is_error = true;
  std::string of_job = {};  // the status that the report would have had, if there is one
};

Failure describe(const std::exception_ptr& failure) {
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (const UsageError& error) {
    return {error.what(), status_usage};
  } catch (const Stopped& stop) {
    return {stop.what(), stop.status(), false, false};
  } catch (const NoResult& error) {
    return {error.what(), status_failed, false, true, error.status()};
  } catch (const PeerFailed& error) {
    return {error.what(), status_failed, true};
  } catch (const std::bad_alloc&) {
    return {"out of memory", status_failed};
  } catch (const std::exception& error) {
    return {error.what(), status_failed};
  } catch (...) {
    return {"an exception of unknown type", status_failed};
  }
}

/// Which rank is to print, and the exit status for all.
struct Verdict {
  int reporter = -1;  // no rank failed
  int status = 0;
};

std::optional<nlohmann::ordered_json> json_command;  // none: text alone is wanted

std::string failure_json(const Failure& failure) {
  nlohmann::ordered_json json{{"command", *json_command}, {"error", failure.text}, {"exit_status", failure.status}};
  if (!failure.of_job.empty()) json["status"] = failure.of_job;
  return json_line(json);
}

void print(const Failure& failure) {
  tell_no_more_stops();  // launchers send signals to ranks that end with an error
  if (json_command) {
    const std::string line = failure_json(failure);
    std::fwrite(line.data(), 1, line.size(), stdout);  // where that is closed, stderr tells
    std::fflush(stdout);
  }
  failure.is_error ? print_error(failure.text) : print_aside(fmt::format("plait: {}\n", failure.text));
}

// Nothing if not all ranks came to it in time, which only a rank that failed looks at.
std::optional<Verdict> agree_on_verdict(const mpi::Communicator& comm, const Failure& failure) {
  const bool failed = failure.status != 0;
  const int nobody = 2 * comm.size();
  const int order = comm.rank() + (failure.is_consequence ? comm.size() : 0);
  std::array<int, 2> minima{failed ? order : nobody, -failure.status};
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, minima.data(), 2, MPI_INT, MPI_MIN, comm.handle(), &request),
             "MPI_Iallreduce");
  const Stopwatch waited;
  Backoff backoff;
  for (int done = 0; done == 0; backoff.idle()) {
    mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0 && failed && waited.seconds() > patience_seconds) return std::nullopt;
  }
  return Verdict{minima[0] == nobody ? -1 : minima[0] % comm.size(), -minima[1]};
}

// Of all words but the program's name, which may differ between nodes.
Index fingerprint(int argc, const char* const* argv) {
  std::uint64_t print = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    for (const char c : word) print = random_bits(print, static_cast<unsigned char>(c));
    print = random_bits(print, 256);  // where the word ends
  }
  return static_cast<Index>(print);
}

/// Files may differ between nodes, so that what is misuse on one rank need not be on another one.
void expect_same_arguments(const mpi::Context& context, int argc, const char* const* argv,
                           const std::exception_ptr& misuse) {
  const Index own = fingerprint(argc, argv);
  std::array<Index, 3> minima{own, ~own, misuse ? context.rank() : context.size()};  // ~ turns the order around
  mpi::all_reduce(context.comm(), minima, mpi::Operation::minimum());
  if (minima[0] != ~minima[1]) {
    throw UsageError("the ranks were started with different arguments; expected the same on each of them");
  }
  if (misuse) std::rethrow_exception(misuse);
  if (minima[2] < context.size()) {
    throw PeerFailed(static_cast<int>(minima[2]), fmt::format("rank {} has other arguments or files", minima[2]));
  }
}

struct Launcher {
  const char* rank;
  const char* size;
  bool is_own;
};

#ifdef OPEN_MPI
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif

constexpr std::array<Launcher, 3> launchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", is_open_mpi},
                                             {"PMI_RANK", "PMI_SIZE", !is_open_mpi},
                                             {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true}}};

/// Open MPI's start of a process that no launcher started: without the daemon that would start more of them, and
/// without the libraries of networks, which together take most of half a second; and without a folder of temporary
/// files, which such processes would share: one that ended took it away from another one that began. What users set
/// counts.
class StartAlone {
 public:
  StartAlone() {
    if (!is_open_mpi || has_launcher()) return;
    for (const auto& [name, value] : settings) {
      if (std::getenv(name) == nullptr && setenv(name, value, 0) == 0) set_.push_back(name);
    }
  }
  StartAlone(const StartAlone&) = delete;
  StartAlone& operator=(const StartAlone&) = delete;
  /// Programs that this one starts decide for themselves.
  ~StartAlone() {
    for (const char* const name : set_) unsetenv(name);
  }

 private:
  static constexpr std::array<std::pair<const char*, const char*>, 4> settings{
      {{"OMPI_MCA_ess_singleton_isolated", "1"},
       {"OMPI_MCA_orte_create_session_dirs", "0"},
       {"OMPI_MCA_pml", "ob1"},
       {"OMPI_MCA_btl", "self"}}};

  [[nodiscard]] static bool has_launcher() {
    if (std::getenv("HYDI_CONTROL_FD") != nullptr) return false;  // MPICH's, whose words are not Open MPI's
    constexpr std::array<std::string_view, 3> prefixes{"OMPI_COMM_WORLD_", "PMIX_", "PMI_"};
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text(*variable);
      if (std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); })) return true;
    }
    return false;
  }

  std::vector<const char*> set_;
};

mpi::Environment started(int& argc, char**& argv) {
  const StartAlone settings;
  return {argc, argv, MPI_COMM_WORLD};
}

std::atomic<int> status_of_job = 0;

extern "C" void plait_on_crash_of_finalize(int) {
  constexpr std::string_view line =
      "plait: MPI crashed as it cleaned up after the job, whose results and exit status stand\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(status_of_job);
}

/// For the time of MPI_Finalize: all is written and told, so a crash in there leaves the status as it is. Ranks under
/// Open MPI 4 were seen to crash there on busy machines (as others report in open-mpi/ompi, issue 10117), after they
/// had taken leave of the launcher; of those that crash before that the launcher tells.
int status_through_finalize(int status) {
  status_of_job = status;
  struct sigaction action{};
  action.sa_handler = plait_on_crash_of_finalize;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGABRT, SIGBUS, SIGSEGV}) ::sigaction(signal, &action, nullptr);
  return status;
}

}  // namespace

void print_failures_as_json(const std::string& first) {
  json_command = first.starts_with('-') ? nlohmann::ordered_json() : nlohmann::ordered_json(first);
  const std::string line = failure_json({});
  tell_stops_on_stdout(line.substr(0, line.find("\"\"") + 1));
}

int print_failure(const std::exception_ptr& failure) {
  const Failure described = describe(failure);
  print(described);
  return described.status;
}

int run_guarded(const std::function<void(mpi::Context&)>& job) {
  const auto verdicts = mpi::Communicator::duplicate(MPI_COMM_WORLD);
  mpi::Context context(MPI_COMM_WORLD);  // freed after the verdict: freeing it, too, takes all ranks
  std::exception_ptr thrown;
  try {
    job(context);
  } catch (...) {
    thrown = std::current_exception();
  }
  const Failure failure = describe(thrown);
  const auto verdict = agree_on_verdict(verdicts, failure);
  if (!verdict) {
    Failure unknown = failure;
    unknown.text = fmt::format("rank {}: {}; the other ranks do not know and are ended", context.rank(), failure.text);
    unknown.status = status_failed;
    unknown.is_error = true;
    print(unknown);
    // Launchers, Hydra at least, drop what they have not read of the ranks when one aborts.
    std::this_thread::sleep_for(time_to_be_read);
    MPI_Abort(MPI_COMM_WORLD, status_failed);
  }
  if (verdict->reporter == context.rank()) print(failure);
  return verdict->status;
}

int run_under_mpi(const Start& start, const std::exception_ptr& misuse, const std::function<void(mpi::Context&)>& job) {
  try {
    auto [argc, argv, launch] = start;
    const mpi::Environment environment = started(argc, argv);
    catch_stop_signals(launch.rank == 0);  // MPI may have put handlers of its own in place
    return status_through_finalize(run_guarded([&, argc = argc, argv = argv](mpi::Context& context) {
      expect_same_arguments(context, argc, argv, misuse);
      job(context);
    }));
  } catch (...) {
    return end_failed(start.launch, std::current_exception());
  }
}

int end_failed(const Launch& launch, const std::exception_ptr& failure) {
  if (launch.rank == 0) return print_failure(failure);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return status_failed;
}

Launch launch_from_environment() {
  Launch launch;
  for (const Launcher& launcher : launchers) {
    const char* rank = std::getenv(launcher.rank);
    const char* size = std::getenv(launcher.size);
    if (rank == nullptr || size == nullptr) continue;
    launch = {std::atoi(rank), std::atoi(size), launcher.is_own};
    if (launcher.is_own) break;
  }
  return launch;
}

}  // namespace plait::cli
