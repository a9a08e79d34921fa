// job [--limit SECONDS] COMMAND...: runs a command and leaves nothing of it behind, however it ends.
//
// The exit status is the command's. What it has started and left running is killed a moment after its end, with a line
// that says so, and the exit status is 98 where the command's was 0: an aborted job is the launcher's to end, and it
// may fail. When the limit is over, which counts as JobClock does, all is killed, and the exit status is 124. When the
// process that started this one ends, all ends. TMPDIR and PLAIT_TEST_SHARED_MEMORY are folders that go with the job.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "support/descendants.hpp"
#include "support/job_clock.hpp"

namespace {

using namespace plait::test;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;
namespace fs = std::filesystem;

constexpr int status_of_leftovers = 98;
constexpr int status_of_limit = 124;
constexpr int status_of_no_command = 127;
constexpr nanoseconds patience = 3s;  // with what should end by itself or has been told to, in time of the JobClock
constexpr std::array forwarded{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

void say(const std::string& text) { std::fprintf(stderr, "job: %s\n", text.c_str()); }

void say(const std::string& text, const std::vector<pid_t>& processes) {
  std::string lines = text;
  for (const pid_t process : processes) lines += "\njob:   " + description(process);
  say(lines);
}

/// New folders for what the job's processes leave in files and in shared memory, unless this job is part of another
/// one.
class Folders {
 public:
  Folders() {
    if (std::getenv("PLAIT_TEST_FOLDER") != nullptr) return;
    const char* usual = std::getenv("TMPDIR");
    const fs::path files = make_in(usual != nullptr && *usual != '\0' ? usual : "/tmp");
    setenv("TMPDIR", files.c_str(), 1);
    setenv("PLAIT_TEST_FOLDER", files.c_str(), 1);
    const char* shared = std::getenv("PLAIT_TEST_SHARED_MEMORY");
    const std::string memory = shared != nullptr ? shared : "/dev/shm";
    if (access(memory.c_str(), W_OK) == 0) setenv("PLAIT_TEST_SHARED_MEMORY", make_in(memory).c_str(), 1);
  }
  ~Folders() {
    std::error_code ignored;
    for (const auto& path : made_) fs::remove_all(path, ignored);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

 private:
  const fs::path& make_in(const std::string& parent) {
    std::string name = parent + "/plait-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    fs::permissions(name, fs::perms{0711});  // tests become another user
    return made_.emplace_back(name);
  }
  std::vector<fs::path> made_;
};

class Job {
 public:
  Job(char** command, nanoseconds limit) : limit_(limit), name_(fs::path(*command).filename()) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    sigset_t usual;
    sigemptyset(&awaited_);
    for (const int signal : forwarded) sigaddset(&awaited_, signal);
    sigaddset(&awaited_, SIGCHLD);
    sigset_t blocked = awaited_;
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, &usual);
    command_ = fork();
    if (command_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (command_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
      sigprocmask(SIG_SETMASK, &usual, nullptr);
      execvp(*command, command);
      say(std::string(*command) + ": " + std::strerror(errno));
      _exit(status_of_no_command);
    }
  }

  /// The wait status of the command, or an exit status of this program's own.
  int run() {
    while (!has_ended_ && getppid() == parent_ && clock_.time() < limit_) await();
    if (!has_ended_) end_command();
    if (!has_ended_ || !all_end_by_themselves()) kill_all();
    for (const auto& path : shared_memory_) unlink(path.c_str());
    if (is_over_limit_) return W_EXITCODE(status_of_limit, 0);
    return were_left_ && status_ == 0 ? W_EXITCODE(status_of_leftovers, 0) : status_;
  }

 private:
  /// Until something happens, or the clock is to be looked at.
  void await() {
    const nanoseconds left = clock_.until_next_look();
    const timespec longest{left / 1s, (left % 1s).count()};
    siginfo_t from{};
    const int signal = sigtimedwait(&awaited_, &from, &longest);
    if (clock_.until_next_look() == 0ns) clock_.look_at(descendants());
    // What a terminal sends has come to the command as well.
    if (signal > 0 && signal != SIGCHLD && from.si_code != SI_KERNEL && !has_ended_) kill(command_, signal);
    reap();
  }

  void reap() {
    int status = 0;
    pid_t child = 0;
    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
      if (child != command_) continue;
      status_ = status;
      has_ended_ = true;
    }
    has_children_ = child == 0;
  }

  void end_command() {
    is_over_limit_ = clock_.time() >= limit_;
    const auto processes = descendants();
    if (is_over_limit_) {
      say(name_ + " has run for " + std::to_string(limit_ / 1ms) + " ms, and is ended:", processes);
    }
    keep_in_mind_shared_memory_of(processes);
    kill(command_, SIGTERM);
    const nanoseconds end = clock_.time() + patience;
    while (!has_ended_ && clock_.time() < end) await();
  }

  bool all_end_by_themselves() {
    const nanoseconds end = clock_.time() + patience;
    do reap();
    while (has_children_ && clock_.time() < end && (await(), true));
    return !has_children_;
  }

  void kill_all() {
    were_left_ = true;
    auto left = descendants();
    if (has_ended_ && !is_over_limit_) say(name_ + " has ended without these, which are killed:", left);
    keep_in_mind_shared_memory_of(left);
    // They may have started others meanwhile.
    const nanoseconds end = clock_.time() + patience;
    for (reap(); has_children_ && clock_.time() < end; await(), left = descendants()) {
      for (const pid_t process : left) kill(process, SIGKILL);
    }
    if (has_children_) say("these can't be killed:", left);
  }

  /// Of this job's making: processes that are killed leave it behind.
  void keep_in_mind_shared_memory_of(const std::vector<pid_t>& processes) {
    for (const pid_t process : processes) {
      for (const auto& path : shared_memory_of(process)) {
        struct stat about{};
        if (stat(path.c_str(), &about) == 0 && about.st_ctim.tv_sec >= start_) shared_memory_.insert(path);
      }
    }
  }

  const nanoseconds limit_;
  const std::string name_;
  const pid_t parent_ = getppid();
  const time_t start_ = time(nullptr);
  JobClock clock_;
  sigset_t awaited_{};
  pid_t command_ = 0;
  int status_ = 0;
  bool has_ended_ = false;
  bool has_children_ = true;
  bool is_over_limit_ = false;
  bool were_left_ = false;
  std::set<fs::path> shared_memory_;
};

/// Ends this process as a wait status tells that another one has ended.
[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    raise(signal);
  }
  std::exit(WEXITSTATUS(status));
}

}  // namespace

int main(int argc, char** argv) try {
  nanoseconds limit = nanoseconds::max();
  char** command = argv + 1;
  if (argc > 2 && std::string_view(argv[1]) == "--limit") {
    limit = std::chrono::round<nanoseconds>(std::chrono::duration<double>(std::strtod(argv[2], nullptr)));
    command += 2;
  }
  if (command >= argv + argc || limit <= 0s) {
    std::fprintf(stderr, "usage: %s [--limit SECONDS] COMMAND...\n", argv[0]);
    return 2;
  }
  int status = 0;
  {
    const Folders folders;
    status = Job(command, limit).run();
  }
  end_like(status);
} catch (const std::exception& error) {
  say(error.what());
  return status_of_no_command;
}
