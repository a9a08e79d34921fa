#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace plait::cli {

/// The groups in which a help text lists options. One of those of the first has to be given, and those that CLI11 knows
/// to be required come before all.
namespace group {
inline constexpr const char* one_of = "One of these (required)";
inline constexpr const char* iteration = "Iteration";
inline constexpr const char* checkpoints = "Checkpoints";
inline constexpr const char* run = "Run and report";
}  // namespace group

/// As few letters as will do: "IN", "-o FILE", "--electrons COUNT".
[[nodiscard]] std::string to_give(const CLI::Option& option);

/// What has to be given to a command: "plait purify IN --electrons COUNT [OPTIONS]".
[[nodiscard]] std::string usage(const CLI::App& command);

/// \throws UsageError  there is a group of options of which one has to be given, and none is
void expect_one_of(const CLI::App& command);

/// How all help texts look: usage, arguments, required options, the others by groups, then the footer.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace plait::cli
