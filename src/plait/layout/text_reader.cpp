#include "plait/layout/text_reader.hpp"

#include <charconv>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::layout {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void TextReader::fail(std::size_t place, const std::string& what) const {
  // The caret stands under a character, which may be several bytes (UTF-8), and no character may break the line.
  std::string shown;
  std::size_t indent = 0;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text_[i]);
    const bool control = byte < 0x20 || byte == 0x7f;
    const bool continues_character = (byte & 0xc0U) == 0x80U;
    shown += control ? '?' : text_[i];
    if (i < place && !continues_character) ++indent;
  }
  throw LayoutError(fmt::format("{}\n{}\n{}^", what, shown, std::string(indent, ' ')));
}

bool TextReader::take(char c) noexcept {
  if (at_end() || text_[place_] != c) return false;
  ++place_;
  return true;
}

void TextReader::expect(char c, std::string_view after) {
  if (!take(c)) fail_here(fmt::format("expected '{}' after {}", c, after));
}

std::string_view TextReader::word() noexcept {
  const std::size_t begin = place_;
  while (!at_end() && (is_letter(text_[place_]) || text_[place_] == '-')) ++place_;
  return text_.substr(begin, place_ - begin);
}

Index TextReader::number(std::string_view what, Index least, Index most) {
  const std::size_t begin = place_;
  const bool negative = take('-');
  std::size_t end = place_;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  if (end == place_) fail(begin, fmt::format("expected {}, a whole number of at least {}", what, least));

  Index value = 0;
  const auto parsed = std::from_chars(text_.data() + place_, text_.data() + end, value);
  const bool too_long = parsed.ec == std::errc::result_out_of_range;
  const std::string_view given = text_.substr(begin, end - begin);
  if (negative ? too_long || -value < least : !too_long && value < least) {
    fail(begin, fmt::format("{} is {}, expected at least {}", what, given, least));
  }
  if (!negative && (too_long || value > most)) {
    fail(begin, fmt::format("{} is {}, expected at most {}", what, given, most));
  }
  place_ = end;
  return value;
}

std::string_view TextReader::value() noexcept {
  const std::size_t begin = place_;
  while (!at_end() && !at_option()) ++place_;
  return text_.substr(begin, place_ - begin);
}

bool TextReader::at_option() const noexcept {
  if (at_end() || text_[place_] != ',') return false;
  const std::size_t name = place_ + 1;
  std::size_t end = name;
  while (end < text_.size() && is_letter(text_[end])) ++end;
  return end > name && end < text_.size() && text_[end] == '=';
}

}  // namespace plait::layout
