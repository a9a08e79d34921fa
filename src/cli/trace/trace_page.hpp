#pragma once

#include <string>

#include "cli/trace/trace_summary.hpp"

namespace plait::cli {

/// A trace as one HTML page that needs nothing else: the timeline of each rank, how much of the
/// communication was hidden, how the ranks spent their time, what moved between whom, and what the links achieved.
[[nodiscard]] std::string trace_page(const TraceFigures& figures, const std::string& command);

}  // namespace plait::cli
