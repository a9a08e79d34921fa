#pragma once

#include <string>
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

/// Adds an option for the name of a file or folder. One that begins with "--" is another option whose value is missing.
inline CLI::Option* add_path(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& placeholder, const std::string& help) {
  const auto read = [&path](const std::string& text) {
    if (text.empty()) throw ArgumentError("is empty, expected a name");
    if (text.starts_with("--")) {
      throw ArgumentError(fmt::format("is {}, expected a name; one that begins so is written ./{}", text, text));
    }
    path = text;
  };
  return add_value(command, name, read, placeholder, help);
}

}  // namespace plait::cli
