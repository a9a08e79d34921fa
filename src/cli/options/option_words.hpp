#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait::cli {

/// What the library calls an argument, and the option that it comes from.
struct OptionWord {
  std::string_view argument;
  std::string_view option;
};

/// A message of the library, "memory_limit: …", with the option's name in place of the argument's: "--memory: …". Which
/// rank says so, "rank 2: memory_limit: …", stays before it.
[[nodiscard]] inline std::string in_option_words(const std::string& message, std::span<const OptionWord> words) {
  const std::size_t digits = message.starts_with("rank ") ? message.find_first_not_of("0123456789", 5) : 0;
  const bool names_rank = digits > 5 && digits < message.size() && message.compare(digits, 2, ": ") == 0;
  const std::size_t begin = names_rank ? digits + 2 : 0;
  for (const OptionWord& word : words) {
    if (message.substr(begin).starts_with(std::string(word.argument) + ":")) {
      return message.substr(0, begin) + std::string(word.option) + message.substr(begin + word.argument.size());
    }
  }
  return message;
}

}  // namespace plait::cli
