#include "cli/options/byte_count.hpp"

#include <charconv>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

Index parse_byte_count(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  const auto fail = [&] {
    throw ArgumentError(
        fmt::format("'{}' is no number of bytes; expected one such as 4096, 512K, 64M, 64MB or 2G", text));
  };
  Index count = 0;
  const auto [rest_begin, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || count < 0) fail();
  std::string_view rest = text.substr(static_cast<std::size_t>(rest_begin - text.data()));
  if (rest.empty()) return count;
  const auto unit = units.find(rest.front());
  if (unit == std::string_view::npos) fail();
  rest.remove_prefix(1);
  const bool is_decimal = rest == "B";
  if (!is_decimal && !rest.empty() && rest != "iB") fail();
  for (std::size_t power = 0; power <= unit; ++power) {
    if (__builtin_mul_overflow(count, Index{is_decimal ? 1000 : 1024}, &count)) fail();
  }
  return count;
}

}  // namespace plait::cli
