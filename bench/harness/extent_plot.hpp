#pragma once

#include <string>

#include "bench/harness/report.hpp"

namespace plait::bench {

/// An SVG picture of how the share of the limit's speed grows with the matrix. Cases whose names differ in the extent
/// of a square matrix alone, the NxN in them, are the points of one panel: a line for plait, with intervals, one for
/// the peer, and marks where gates are. Cases that stand alone are left out.
[[nodiscard]] std::string svg_extent_plot(const Report& report);

}  // namespace plait::bench
