#include "bench/reduce/instruction_count.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace plait::bench {

namespace {

constexpr int untraceable = 1;

[[noreturn]] void work_stepwise(const std::function<void()>& work) {
  work();  // first: what is bound or paged in by the first call is not counted
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(untraceable);
  std::raise(SIGSTOP);
  work();
  std::raise(SIGSTOP);
  _exit(0);
}

/// Waits until the child has stopped; false when it has ended instead.
bool stops(pid_t child, int& signal) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
  signal = WSTOPSIG(status);
  return true;
}

}  // namespace

std::optional<Index> count_instructions(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) work_stepwise(work);
  int signal = 0;
  if (!stops(child, signal)) return std::nullopt;
  Index count = 0;
  do {
    ++count;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || !stops(child, signal)) return std::nullopt;
  } while (signal == SIGTRAP);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return count;
}

}  // namespace plait::bench
