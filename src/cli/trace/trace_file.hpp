#pragma once

#include <string>
#include <string_view>

#include "plait/report/trace.hpp"

namespace plait::cli {

/// The trace in a file that --trace, or `report::chrome_json`, has written. Events that serve viewers only are skipped.
///
/// \throws FileError  it can't be read; it is no JSON, truncated, or another program's; an event is malformed or names
///                    what is not there
[[nodiscard]] report::Trace read_trace_file(const std::string& path);

/// The same from the text of the file; errors begin with `path`.
[[nodiscard]] report::Trace parse_trace(std::string_view text, const std::string& path);

}  // namespace plait::cli
