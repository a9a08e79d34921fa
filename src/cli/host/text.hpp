#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/index.hpp"

/// Numbers as people read them, in three digits and a decimal unit; and where all that the command prints goes: results
/// to stdout, the rest to stderr.
namespace plait::cli {

/// A format that has something to go into it: without, words are taken as they are.
template <class... Args>
  requires(sizeof...(Args) > 0)
using Format = fmt::format_string<Args...>;

/// "512 MB", "1.23 GB", "17 B"
[[nodiscard]] std::string bytes_text(Index bytes);

/// "1.23 GB/s"; "-" where no time passed.
[[nodiscard]] std::string rate_text(Index bytes, double seconds);

/// "1 rank", "2 ranks"
[[nodiscard]] std::string counted(Index number, std::string_view what);

/// "12.3 s", "4.56 ms", "7 us"
[[nodiscard]] std::string seconds_text(double seconds);

/// "63.2 %"; of nothing, "-".
[[nodiscard]] std::string percent_text(double part, double whole);

/// A JSON value in one line. Paths may hold bytes that are no UTF-8; such ones become U+FFFD.
[[nodiscard]] inline std::string json_line(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// A word as a shell takes it, whatever it has.
[[nodiscard]] inline std::string in_shell_quotes(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// A command as a shell takes it: words that it could take for something else are quoted.
[[nodiscard]] inline std::string shell_text(const std::vector<std::string>& words) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:@%+";
  std::string text;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
    text += (text.empty() ? "" : " ") + (is_plain ? word : in_shell_quotes(word));
  }
  return text;
}

/// \throws FileError  if stdout does not take it
void print_result(std::string_view text);

/// To stderr as it is. What can't be written there is lost: that is no reason to end a job.
void print_aside(std::string_view text) noexcept;

/// "plait: warning: ..."
void print_warning(std::string_view text);
template <class... Args>
void print_warning(Format<Args...> format, Args&&... args) {
  print_warning(fmt::format(format, std::forward<Args>(args)...));
}

/// "plait: error: ..."
void print_error(std::string_view text);

/// Opens those of standard input, output and error that were closed when the program began, such that using them fails.
/// Otherwise a file that is opened later would get their number, and texts for people would be written into it.
///
/// Whoever reads one of them may go away: then, too, using it fails, instead of ending this process by a signal.
void make_standard_streams_safe();

}  // namespace plait::cli
