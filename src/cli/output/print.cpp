#include "cli/output/print.hpp"

#include <cerrno>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "plait/io/file.hpp"

namespace plait::cli {

namespace {

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

}  // namespace plait::cli
