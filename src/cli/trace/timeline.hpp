#pragma once

#include <string>
#include <string_view>

#include "plait/report/trace.hpp"

namespace plait::cli {

/// The timeline of a trace as a section of a page: below a time axis come, rank by rank, its work, its posting and
/// waiting, and lanes of communications.
///
/// At full length it has as many columns as a screen has pixels; what falls into one column is drawn together, the
/// fainter the less of the column it fills. What is seen further in has as many columns as the page has room for; so
/// the text stays within some megabytes, however much the trace holds.
///
/// \param what  HTML: which part of a job it is; may be empty
[[nodiscard]] std::string timeline_section(const report::Trace& trace, Nanoseconds span, std::string_view what = {});

}  // namespace plait::cli
