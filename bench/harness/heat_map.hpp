#pragma once

#include <string>

#include "bench/harness/report.hpp"

namespace plait::bench {

/// An SVG picture of many cases whose names differ in a size such as 64B, 16K or 4M: for each of them a field with the
/// share of the limit's speed in color and number, framed where a gate is missed. Rows are the cases without their
/// size, grouped by the first word in which they differ; words that all have in common stand in the title. Cases
/// without a size are left out.
[[nodiscard]] std::string svg_heat_map(const Report& report);

}  // namespace plait::bench
