#include "cli/job/link_rate.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

namespace {

constexpr double slowest = 1e3;
constexpr double fastest = 1e15;
constexpr std::array<std::pair<char, double>, 4> units{{{'t', 1e12}, {'g', 1e9}, {'m', 1e6}, {'k', 1e3}}};

}  // namespace

double parse_link_rate(std::string_view text) {
  const auto fail = [&] {
    throw ArgumentError(fmt::format("'{}' is no rate; expected bits per second such as 1gbit or 200mbit", text));
  };
  double rate = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (failure != std::errc()) fail();
  std::string unit;
  for (const char c : text.substr(static_cast<std::size_t>(end - text.data()))) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (!unit.empty() && unit != "bit") {
    const std::string_view prefixed(unit);
    double factor = 0;
    for (const auto& [prefix, scale] : units) {
      if (prefixed.front() == prefix && prefixed.substr(1) == "bit") factor = scale;
    }
    rate *= factor;
  }
  if (!(rate >= slowest && rate <= fastest)) fail();
  return rate;
}

double emulated_link_rate() {
  const char* const rate = std::getenv("PLAIT_CLUSTER_RATE");
  if (rate == nullptr) return 0;
  try {
    return parse_link_rate(rate);
  } catch (const ArgumentError& error) {
    throw ArgumentError(fmt::format("PLAIT_CLUSTER_RATE: {}", error.what()));
  }
}

std::string link_rate_text(double bits_per_second) {
  for (const auto& [prefix, scale] : units) {
    if (bits_per_second < scale) continue;
    const char shown = prefix == 'k' ? 'k' : static_cast<char>(std::toupper(static_cast<unsigned char>(prefix)));
    return fmt::format("{:.4g} {}b/s", bits_per_second / scale, shown);
  }
  return fmt::format("{:.4g} b/s", bits_per_second);
}

}  // namespace plait::cli
