#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/usage_error.hpp"

namespace plait::cli {

/// Adds an option whose text `read` turns into a value: what it throws becomes a UsageError that begins with the
/// option's name.
template <class F>
CLI::Option* add_value(CLI::App& command, const std::string& name, F read, const std::string& placeholder,
                       const std::string& help) {
  const std::string shown = name.substr(name.find(',') + 1);
  return command
      .add_option_function<std::string>(
          name,
          [read = std::move(read), shown](const std::string& text) {
            try {
              read(text);
            } catch (const Error& error) {
              throw UsageError(fmt::format("{}: {}", shown, error.what()));
            }
          },
          help)
      ->option_text(placeholder);
}

/// The name of a file or folder. One that begins with "--" is another option whose value is missing, and "-" is no
/// standard stream: all ranks read and write at any place of a file.
inline std::string parse_path(const std::string& text) {
  if (text.empty()) throw ArgumentError("is empty, expected a name");
  if (text == "-" || text.starts_with("--")) {
    throw ArgumentError(fmt::format("is {}, expected a name; a file of that name is written ./{}", text, text));
  }
  return text;
}

/// Adds an option for the name of a file or folder.
inline CLI::Option* add_path(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& placeholder, const std::string& help) {
  return add_value(command, name, [&path](const std::string& text) { path = parse_path(text); }, placeholder, help);
}

/// Adds an option for the name of a .npy file to write. Any name will do but that of a Matrix Market file.
inline CLI::Option* add_npy_path(CLI::App& command, const std::string& name, std::string& path,
                                 const std::string& placeholder, const std::string& help) {
  const auto is_lower_or_upper = [](char letter, char lower) { return letter == lower || letter == lower - 'a' + 'A'; };
  const auto read = [&path, is_lower_or_upper](const std::string& text) {
    constexpr std::string_view ending = ".mtx";
    const std::string_view end = std::string_view(text).substr(text.size() - std::min(text.size(), ending.size()));
    if (std::ranges::equal(end, ending, is_lower_or_upper)) {
      throw ArgumentError(fmt::format("{} would be a Matrix Market file, expected the name of a .npy file", text));
    }
    path = parse_path(text);
  };
  return add_value(command, name, read, placeholder, help);
}

}  // namespace plait::cli
