#pragma once

#include <string>
#include <string_view>

#include "plait/base/index.hpp"

namespace plait::io {

/// Numbers at the beginning of a text, as files have them. Each takes one word, blanks before it included, off `rest`.
///
/// \throws ArgumentError  quoting the word: "expected a whole number, found "1.5""

[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

/// `rest` without the blanks that it begins with.
[[nodiscard]] constexpr std::string_view without_blanks(std::string_view rest) noexcept {
  std::size_t at = 0;
  while (at < rest.size() && is_blank(rest[at])) ++at;
  return rest.substr(at);
}

/// Bytes of a file for an error: those that are no printable ASCII as <FF>.
[[nodiscard]] std::string printable(std::string_view bytes);

/// The same between quotation marks, of 40 bytes at most.
[[nodiscard]] std::string quoted_text(std::string_view bytes);

/// The next word, empty at the end.
[[nodiscard]] std::string_view take_word(std::string_view& rest);

/// A decimal whole number that fits 64 bits.
[[nodiscard]] Index take_integer(std::string_view& rest);

/// A decimal number, rounded to the nearest double: with C's or Fortran's exponents (1e5, 1.D+03, 1.5+103), also inf
/// and nan. One too small becomes 0; one too large is an error.
[[nodiscard]] double take_real(std::string_view& rest);

}  // namespace plait::io
