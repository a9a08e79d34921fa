#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plait::cli {

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

}  // namespace plait::cli
