#pragma once

#include <string>

#include "bench/harness/report.hpp"

namespace plait::bench {

/// An SVG picture of a report: for each case how much of the limit's speed plait comes to, with its interval, and the
/// peer below; a mark where the gate is; the speedup in words.
[[nodiscard]] std::string svg_plot(const Report& report);

}  // namespace plait::bench
