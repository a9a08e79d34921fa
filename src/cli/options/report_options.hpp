#pragma once

#include <string>

#include "cli/output/meter.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// How much a job says.
struct ReportOptions {
  bool json = false;
  bool quiet = false;
  bool progress = false;

  [[nodiscard]] Meter::When meter() const noexcept {
    if (quiet) return Meter::When::never;
    return progress ? Meter::When::from_the_start : Meter::When::if_long;
  }
};

void add_report_options(CLI::App& command, ReportOptions& options);

/// Some of them, for commands that have no progress.
void add_json_option(CLI::App& command, bool& json);
void add_quiet_option(CLI::App& command, bool& quiet);

/// Adds --report, the option of jobs that draw a page with `contents`.
void add_page_option(CLI::App& command, std::string& path, const std::string& contents);

}  // namespace plait::cli
