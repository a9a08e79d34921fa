#include "cli/host/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "plait/io/file.hpp"

namespace plait::cli {

namespace {

std::string three_digits(double number, std::string_view unit) {
  const int decimals = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, decimals, unit);
}

std::string scaled(double number, std::string_view suffix) {
  constexpr std::array<std::string_view, 6> prefixes{"k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  number /= 1000;
  while (number >= 999.5 && prefix + 1 < prefixes.size()) {
    number /= 1000;
    ++prefix;
  }
  return three_digits(number, fmt::format("{}{}", prefixes[prefix], suffix));
}

// Texts quote files and names, which may hold what a terminal would obey.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool obeyed = (code < 0x20 && c != '\n') || code == 0x7f;
    result += obeyed ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return result;
}

// In one piece, so that what other processes print to the same place does not come in between.
void print_line(std::string_view kind, std::string_view text) {
  print_aside(fmt::format("plait: {}: {}\n", kind, printable(text)));
}

}  // namespace

std::string bytes_text(Index bytes) {
  return bytes < 1000 ? fmt::format("{} B", bytes) : scaled(static_cast<double>(bytes), "B");
}

std::string rate_text(Index bytes, double seconds) {
  return seconds > 0 ? scaled(static_cast<double>(bytes) / seconds, "B/s") : "-";
}

std::string percent_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

std::string counted(Index number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string seconds_text(double seconds) {
  if (seconds >= 0.9995) return three_digits(seconds, "s");
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3, "ms");
  return fmt::format("{:.0f} us", seconds * 1e6);
}

void print_result(std::string_view text) {
  errno = 0;
  const bool all = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!all) throw io::system_error("standard output", "can't be written", errno);
}

void print_aside(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print_warning(std::string_view text) { print_line("warning", text); }
void print_error(std::string_view text) { print_line("error", text); }

void make_standard_streams_safe() {
  std::signal(SIGPIPE, SIG_IGN);

  constexpr std::array against_its_use{O_WRONLY, O_RDONLY, O_RDONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number is the one that is asked for; if /dev/null is missing there is nothing better to do.
    static_cast<void>(open("/dev/null", against_its_use[static_cast<std::size_t>(descriptor)]));
  }
}

}  // namespace plait::cli
