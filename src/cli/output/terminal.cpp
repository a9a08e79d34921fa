#include "cli/output/terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace plait::cli {

namespace {

/// What proc(5) tells of a process.
struct Process {
  std::string name;
  pid_t parent = 0;
  bool is_in_foreground = false;  // of its terminal
};

std::optional<Process> look_at(pid_t number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const auto begin = line.find('(');
  const auto end = line.rfind(')');  // the name may hold anything
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(end + 1));
  char state = 0;
  pid_t group = 0;
  pid_t session = 0;
  int terminal = 0;
  pid_t foreground = 0;
  Process process{line.substr(begin + 1, end - begin - 1)};
  if (!(rest >> state >> process.parent >> group >> session >> terminal >> foreground)) return std::nullopt;
  process.is_in_foreground = group == foreground;
  return process;
}

/// What launchers start ranks through.
bool is_helper(const Process& process) {
  constexpr std::array<std::string_view, 3> helpers{"orted", "prted", "hydra_pmi_proxy"};
  return std::ranges::find(helpers, process.name) != helpers.end();
}

int open_terminal_of_launcher() {
  struct stat passed_on{};
  if (::fstat(STDERR_FILENO, &passed_on) == -1 || !S_ISFIFO(passed_on.st_mode)) return -1;
  pid_t number = ::getppid();
  auto launcher = look_at(number);
  while (launcher && is_helper(*launcher)) {
    number = launcher->parent;
    launcher = look_at(number);
  }
  if (!launcher || !launcher->is_in_foreground) return -1;
  const int descriptor = ::open(fmt::format("/proc/{}/fd/2", number).c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor == -1 || ::isatty(descriptor) == 1) return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

Terminal::Terminal() { descriptor_ = ::isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : open_terminal_of_launcher(); }

Terminal::~Terminal() {
  if (descriptor_ != -1 && descriptor_ != STDERR_FILENO) ::close(descriptor_);
}

void Terminal::draw(std::string_view text) const noexcept {
  // Ranks are in the background, and some terminals stop what writes from there, unless the signal is blocked.
  sigset_t stops;
  sigset_t before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &stops, &before);
  [[maybe_unused]] const auto written = ::write(descriptor_, text.data(), text.size());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace plait::cli
