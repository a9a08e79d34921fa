#pragma once

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"

namespace plait::cli {

/// A finite number, such as 1e-9.
///
/// \throws ArgumentError
[[nodiscard]] inline double parse_number(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    throw ArgumentError(fmt::format("'{}' is no number; expected one such as 0.25 or 1e-9", text));
  }
  return number;
}

/// \throws ArgumentError  no number, or one that is not positive
[[nodiscard]] inline double parse_positive_number(std::string_view text) {
  const double number = parse_number(text);
  if (number > 0) return number;
  throw ArgumentError(fmt::format("{} is not positive; expected a number > 0", text));
}

/// \throws ArgumentError  no whole number, or one below `least`
[[nodiscard]] inline Index parse_count(std::string_view text, Index least) {
  Index count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || end != text.data() + text.size() || count < least) {
    throw ArgumentError(fmt::format("'{}' is no count; expected a whole number, {} at least", text, least));
  }
  return count;
}

[[nodiscard]] inline Index parse_positive_count(std::string_view text) { return parse_count(text, 1); }

}  // namespace plait::cli
