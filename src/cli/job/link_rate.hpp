#pragma once

#include <string>
#include <string_view>

namespace plait::cli {

/// Bits per second, written as `tc` takes them: 1gbit, 2.5gbit, 100mbit; also 1000000000.
///
/// \throws ArgumentError  naming the text and what was expected
[[nodiscard]] double parse_link_rate(std::string_view text);

/// The rate of the emulated cluster that this runs on, which is in PLAIT_CLUSTER_RATE; 0 elsewhere.
[[nodiscard]] double emulated_link_rate();

/// "1 Gb/s"
[[nodiscard]] std::string link_rate_text(double bits_per_second);

}  // namespace plait::cli
