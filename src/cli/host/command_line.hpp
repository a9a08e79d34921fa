#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace plait::cli {

class Command;

/// A subcommand as the program knows it.
struct JobRow {
  const char* name;
  std::unique_ptr<Command> (*make)();
};

/// The word among `known` that was probably meant by a misspelt one: the nearest, if it is near enough.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

/// What a command line asks for.
struct Parsed {
  std::string text;                  // of --help and --version
  std::unique_ptr<Command> command;  // else
};

/// \throws UsageError  in a line or a few: what is wrong, what was expected, and where help is
[[nodiscard]] Parsed parse_command_line(std::span<const JobRow> jobs, int argc, const char* const* argv);

/// Runs the program: parses the command line and starts the job. Returns the exit status.
[[nodiscard]] int run_program(std::span<const JobRow> jobs, int argc, char** argv);

}  // namespace plait::cli
