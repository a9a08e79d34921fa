#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plait::cli {

/// What the library calls an argument, and the option that it comes from.
struct OptionWord {
  std::string_view argument;
  std::string_view option;
};

/// A message of the library, "memory_limit: …", with the option's name in place of the argument's: "--memory: …".
[[nodiscard]] inline std::string in_option_words(const std::string& message, std::span<const OptionWord> words) {
  for (const OptionWord& word : words) {
    if (message.starts_with(std::string(word.argument) + ":")) {
      return std::string(word.option) + message.substr(word.argument.size());
    }
  }
  return message;
}

}  // namespace plait::cli
