#include "cli/host/meter.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/host/text.hpp"

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

constexpr double bar_from_seconds = 0.5;
constexpr double bar_every_seconds = 0.1;
constexpr double lines_from_seconds = 2;
constexpr double lines_every_seconds = 3;
constexpr int calls_between_clocks = 32;  // waiting asks much more often than anybody looks

int percent(Index done, Index bytes) {
  return static_cast<int>(100.0 * static_cast<double>(std::clamp(done, Index{0}, bytes)) / static_cast<double>(bytes));
}

}  // namespace

Terminal::Terminal() {
  const char* const kind = std::getenv("TERM");
  if (kind != nullptr && std::string_view(kind) == "dumb") return;  // it shows control sequences as they are
  descriptor_ = ::isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : open_terminal_of_launcher();
}

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

Meter::Meter(mpi::Context& context, When when)
    : context_(context),
      tells_(context.rank() == 0 && when != When::never),
      every_stage_(when == When::from_the_start) {
  if (!tells_) return;
  if (!terminal_.emplace()) terminal_.reset();
  if (!every_stage_) next_seconds_ = terminal_ ? bar_from_seconds : lines_from_seconds;
  context_.activities().enlist(*this);
}

Meter::~Meter() {
  if (!tells_) return;
  finish();
  context_.activities().dismiss(*this);
}

void Meter::stage(std::string what, Index own_bytes, Index all_bytes, std::function<Index()> done) {
  what_ = std::move(what);
  own_bytes_ = own_bytes;
  all_bytes_ = all_bytes;
  done_ = std::move(done);
  stage_seconds_ = since_start_.seconds();
  if (every_stage_) next_seconds_ = 0;
  if (tells_) tell(0);
}

void Meter::say(const std::function<std::string()>& what) {
  if (!tells_ || since_start_.seconds() < next_seconds_) return;
  what_ = what();
  tell(0);
}

io::Progress Meter::progress() {
  if (!tells_) return {};
  return [this](Index done) { tell(done); };
}

void Meter::finish() {
  if (drawn_) terminal_->draw("\r\033[K");
  drawn_ = false;
  done_ = {};
}

bool Meter::advance() noexcept {
  if (!done_ || ++calls_ % calls_between_clocks != 0) return false;
  try {
    tell(done_());
  } catch (...) {  // no memory for a line is no reason to end a job
    done_ = {};
  }
  return false;
}

void Meter::tell(Index done) {
  const double seconds = since_start_.seconds();
  if (seconds < next_seconds_) return;
  next_seconds_ = seconds + (terminal_ ? bar_every_seconds : lines_every_seconds);
  terminal_ ? draw_bar(seconds, done) : write_line(seconds, done);
}

// ", 1.2 GB/s, 34 s left", or nothing where too little was done to tell.
std::string Meter::pace(double seconds, Index done) const {
  const double in_stage = seconds - stage_seconds_;
  if (own_bytes_ <= 0 || done <= 0 || in_stage < bar_every_seconds) return {};
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(own_bytes_));
  return fmt::format(", {}, {:.0f} s left",
                     rate_text(static_cast<Index>(part * static_cast<double>(all_bytes_)), in_stage),
                     in_stage * (1 - part) / part);
}

void Meter::draw_bar(double seconds, Index done) {
  constexpr int width = 30;
  std::string bar;
  if (own_bytes_ > 0) {
    const int full = percent(done, own_bytes_) * width / 100;
    bar = fmt::format("[{:=<{}}{: <{}}] {:3} %  ", "", full, "", width - full, percent(done, own_bytes_));
  }
  // What is longer than the terminal is wide must not go on in its next line, to which no \r comes back.
  terminal_->draw(fmt::format("\033[?7l\r{}{}  {:.0f} s{}\033[K\033[?7h", bar, what_, seconds, pace(seconds, done)));
  drawn_ = true;
}

void Meter::write_line(double seconds, Index done) {
  if (all_bytes_ <= 0) return print_aside(fmt::format("plait: {:.1f} s: {}\n", seconds, what_));
  const std::string all = bytes_text(all_bytes_);
  const std::string how_far =
      done > 0 && own_bytes_ > 0 ? fmt::format("{} % of {}", percent(done, own_bytes_), all) : all;
  print_aside(fmt::format("plait: {:.1f} s: {}, {}{}\n", seconds, what_, how_far, pace(seconds, done)));
}

}  // namespace plait::cli
