#pragma once

#include <string>

#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

namespace plait::cli {

/// A trace and what was computed from it. `bits_per_second` is the rate of the links, 0 if nobody knows it.
struct TraceFigures {
  std::string path;
  report::Trace trace;
  report::Overlap overlap;
  double bits_per_second = 0;

  [[nodiscard]] int nodes() const noexcept { return static_cast<int>(overlap.links.size()); }
  [[nodiscard]] Index runs() const noexcept;  ///< of the rank with most
  [[nodiscard]] Index lost() const noexcept;  ///< entries of all ranks
};

/// "63.2 %"; of nothing, "-".
[[nodiscard]] std::string percent_text(double part, double whole);

/// The figures in a few lines, for people.
[[nodiscard]] std::string summary(const TraceFigures& figures);

/// The figures of every rank and node in one line of JSON; docs/command.md tells the keys.
[[nodiscard]] std::string json_report(const TraceFigures& figures);

}  // namespace plait::cli
