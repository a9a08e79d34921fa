#include "plait/io/text/text_number.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::io {

namespace {

[[noreturn]] void fail(std::string_view expected, std::string_view found) {
  const auto what = found.empty() ? std::string("the end of the line") : quoted_text(found);
  throw ArgumentError(fmt::format("expected {}, found {}", expected, what));
}

constexpr bool is_sign(char c) { return c == '+' || c == '-'; }

// The number in C's spelling, which is all that from_chars knows.
class Respelled {
 public:
  explicit Respelled(std::string_view word) {
    if (word.starts_with('+') && word.size() > 1 && !is_sign(word[1])) word.remove_prefix(1);
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool after_digit =
          i > 0 && (std::isdigit(static_cast<unsigned char>(word[i - 1])) != 0 || word[i - 1] == '.');
      if (is_sign(word[i]) && after_digit) append('e');  // Fortran has no letter before a three-digit exponent
      const bool letter = word[i] == 'd' || word[i] == 'D';
      append(letter && after_digit ? 'e' : word[i]);
    }
  }

  [[nodiscard]] const char* begin() const { return text_.data(); }
  [[nodiscard]] const char* end() const { return text_.data() + size_; }
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  void append(char c) {
    fits_ = size_ < text_.size();
    if (fits_) text_[size_++] = c;
  }

  std::array<char, 400> text_{};
  std::size_t size_ = 0;
  bool fits_ = true;
};

// Takes a word that from_chars understands: nearly every one.
template <class Number>
bool take_plainly(std::string_view& rest, Number& number) {
  rest = without_blanks(rest);
  const char* const begin = rest.data();
  const char* const end = begin + rest.size();
  const auto [stop, failure] = std::from_chars(begin, end, number);
  if (failure != std::errc() || (stop != end && !is_blank(*stop))) return false;
  rest.remove_prefix(static_cast<std::size_t>(stop - begin));
  return true;
}

// All others.
double unusual_real(std::string_view word) {
  constexpr std::string_view expected = "a number";
  const Respelled text(word);
  if (word.empty() || !text.fits()) fail(expected, word);
  double number = 0;
  const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
  if (failure == std::errc::invalid_argument || end != text.end()) fail(expected, word);
  if (failure == std::errc()) return number;
  // Out of range: too small or too large? A long double knows far more exponents.
  long double wide = 0;
  const bool tiny_exponent = std::string_view(text.begin(), text.end()).find("e-") != std::string_view::npos ||
                             std::string_view(text.begin(), text.end()).find("E-") != std::string_view::npos;
  if (std::from_chars(text.begin(), text.end(), wide).ec == std::errc())
    number = static_cast<double>(wide);
  else if (!tiny_exponent)
    fail("a number that a double can hold", word);
  if (std::isinf(number)) fail("a number that a double can hold", word);
  return number;
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte >= 0x7f ? fmt::format("<{:02X}>", byte) : std::string(1, c);
  }
  return text;
}

std::string quoted_text(std::string_view bytes) { return fmt::format("\"{}\"", printable(bytes.substr(0, 40))); }

std::string_view take_word(std::string_view& rest) {
  rest = without_blanks(rest);
  std::size_t length = 0;
  while (length < rest.size() && !is_blank(rest[length])) ++length;
  const auto word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

Index take_integer(std::string_view& rest) {
  Index number = 0;
  if (take_plainly(rest, number)) return number;
  const auto word = take_word(rest);
  const bool plus = word.size() > 1 && word[0] == '+' && !is_sign(word[1]);
  const char* const end = word.data() + word.size();
  const auto [stop, failure] = std::from_chars(word.data() + (plus ? 1 : 0), end, number);
  if (failure == std::errc::result_out_of_range) fail("a whole number of 64 bits", word);
  if (failure != std::errc() || stop != end) fail("a whole number", word);
  return number;
}

double take_real(std::string_view& rest) {
  double number = 0;
  return take_plainly(rest, number) ? number : unusual_real(take_word(rest));
}

}  // namespace plait::io
