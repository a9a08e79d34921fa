#pragma once

#include <string>

#include "plait/report/trace.hpp"

namespace plait::cli {

/// The ranks that a picture has room for; of more, so many at even distances.
inline constexpr int most_drawn_ranks = 64;

/// The timeline of a trace as an SVG element without colors: its paths have the classes of `Mark`. Below a time axis
/// come, rank by rank, its work, its posting and waiting, and lanes of communications.
///
/// It has as many columns as a screen has pixels. What falls into one column is drawn together, the fainter the less of
/// the column it fills; so the text stays small, however much the trace holds.
[[nodiscard]] std::string timeline_svg(const report::Trace& trace, Nanoseconds span);

}  // namespace plait::cli
