#include "cli/options/report_options.hpp"

#include <CLI/CLI.hpp>

namespace plait::cli {

void add_report_options(CLI::App& command, ReportOptions& options) {
  command.add_flag("--json", options.json, "Print the result as one JSON object instead of text");
  command.add_flag("--quiet", options.quiet,
                   "No progress, whatever --progress says, and no summary unless --json asks for it");
  command.add_flag("--progress", options.progress, "Tell every stage on stderr; otherwise only jobs of 2 s or more do");
}

}  // namespace plait::cli
