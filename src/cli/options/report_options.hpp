#pragma once

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

}  // namespace plait::cli
