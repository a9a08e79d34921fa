#include "cli/options/report_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/options/help.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

void add_json_option(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the result, or the error, as one JSON object")
      ->disable_flag_override()
      ->group(group::run);
}

void add_quiet_option(CLI::App& command, bool& quiet) {
  command.add_flag("--quiet", quiet, "Print no progress and no summary; what --json asks for is printed")
      ->disable_flag_override()
      ->group(group::run);
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  add_json_option(command, options.json);
  add_quiet_option(command, options.quiet);
  command
      .add_flag("--progress", options.progress, "Print every stage on stderr; without it, only jobs of 2 s or more do")
      ->disable_flag_override()
      ->group(group::run);
}

void add_page_option(CLI::App& command, std::string& path, const std::string& contents) {
  add_typed_path(command, "--report", path, "FILE.html", "Write a page with " + contents, "an HTML file", ".html")
      ->group(group::run);
}

}  // namespace plait::cli
