#include "cli/options/relabel_option.hpp"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/usage_error.hpp"

namespace plait::cli {

using redistribute::AssignmentMethod;

const char* name(AssignmentMethod method) { return method == AssignmentMethod::exact ? "exact" : "greedy"; }

void add_relabel_option(CLI::App& command, std::optional<AssignmentMethod>& method) {
  command
      .add_option_function<std::string>(
          "--relabel",
          [&method](const std::string& text) {
            if (text != "exact" && text != "greedy") {
              throw UsageError(
                  fmt::format("--relabel: '{}' is no way to relabel; expected exact, greedy or nothing", text));
            }
            method = text == "exact" ? AssignmentMethod::exact : AssignmentMethod::greedy;
          },
          "Let ranks change roles in --to so that least is moved; greedy is quick, not best")
      ->option_text("[exact|greedy]")
      ->expected(0, 1)
      ->default_str("exact");
}

}  // namespace plait::cli
