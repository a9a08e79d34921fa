#include "cli/output/quantities.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace plait::cli {

namespace {

std::string three_digits(double number, std::string_view unit) {
  const int decimals = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, decimals, unit);
}

std::string scaled(double number, std::string_view suffix) {
  constexpr std::array<std::string_view, 6> prefixes{"k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  number /= 1000;
  while (number >= 999.5 && prefix + 1 < prefixes.size()) {
    number /= 1000;
    ++prefix;
  }
  return three_digits(number, fmt::format("{}{}", prefixes[prefix], suffix));
}

}  // namespace

std::string bytes_text(Index bytes) {
  return bytes < 1000 ? fmt::format("{} B", bytes) : scaled(static_cast<double>(bytes), "B");
}

std::string rate_text(Index bytes, double seconds) {
  return seconds > 0 ? scaled(static_cast<double>(bytes) / seconds, "B/s") : "-";
}

std::string counted(Index number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string seconds_text(double seconds) {
  if (seconds >= 0.9995) return three_digits(seconds, "s");
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3, "ms");
  return fmt::format("{:.0f} us", seconds * 1e6);
}

}  // namespace plait::cli
