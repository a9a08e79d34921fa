#pragma once

#include <string>

#include "bench/harness/record.hpp"

namespace plait::bench {

/// The table for people, a line for each case, so that a line can be shown as soon as its case is done. All end in a
/// newline.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_line(const Record& record);

/// Three digits and a unit: "1.20 s", "12.3 ms", "456 us", "7.89 ns"
[[nodiscard]] std::string seconds_text(double seconds);

/// "met" or "missed", or "-" where nothing is asked for.
[[nodiscard]] std::string verdict(const Record& record, const Goal& goal);

}  // namespace plait::bench
