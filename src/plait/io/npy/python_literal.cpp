#include "plait/io/npy/python_literal.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::io {

namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::map<std::string, Literal> dictionary() {
    std::map<std::string, Literal> result;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      const std::size_t at = at_;
      if (!result.emplace(key, value()).second) fail_at(at, fmt::format("key '{:.60}' comes twice", key));
      if (accept(',')) continue;
      expect('}', "',' or '}'");
      break;
    }
    skip_blanks();
    if (at_ != text_.size()) fail("the end");
    return result;
  }

 private:
  Literal value() {
    skip_blanks();
    if (starts_string()) return string();
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    const std::size_t begin = at_;
    if (accept('(')) {
      if (auto numbers = rest_of_tuple()) return std::move(*numbers);
      at_ = begin;
    }
    return OtherLiteral{skipped()};
  }

  // What follows the '(' of a tuple of integers; nothing if it is something else.
  std::optional<std::vector<Index>> rest_of_tuple() {
    std::vector<Index> numbers;
    bool comma = true;  // after the last number; (3) is no tuple
    while (!accept(')')) {
      if (!comma) return std::nullopt;
      const auto number = integer();
      if (!number) return std::nullopt;
      numbers.push_back(*number);
      comma = accept(',');
    }
    if (numbers.size() == 1 && !comma) return std::nullopt;
    return numbers;
  }

  std::optional<Index> integer() {
    skip_blanks();
    Index number = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (failure == std::errc::result_out_of_range) {
      fail_at(at_, fmt::format("{:.60} is too large", std::string_view(begin, static_cast<std::size_t>(end - begin))));
    }
    if (failure != std::errc()) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long integers
    return number;
  }

  bool starts_string() const {
    const auto rest = text_.substr(at_);
    const auto quote = rest.find_first_of("'\"");
    return quote == 0 || (quote == 1 && std::string_view("ubUB").find(rest[0]) != std::string_view::npos);
  }

  std::string string() {
    skip_blanks();
    if (!starts_string()) fail("a string");
    if (text_[at_] != '\'' && text_[at_] != '"') ++at_;
    const char quote = text_[at_++];
    std::string result;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      result += text_[at_++];
    }
    if (at_ == text_.size()) fail("the end of a string");
    ++at_;
    return result;
  }

  // Passes over any value, brackets within brackets and strings within those.
  std::string skipped() {
    const std::size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == '}')) break;
      if (c == '\'' || c == '"') {
        static_cast<void>(string());
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      ++at_;
    }
    if (at_ == begin) fail("a value");
    if (depth != 0) fail("a closing bracket");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_blanks() {
    while (at_ < text_.size() && blanks.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool accept(char c) {
    skip_blanks();
    const bool found = at_ < text_.size() && text_[at_] == c;
    if (found) ++at_;
    return found;
  }

  bool accept_word(std::string_view word) {
    const bool found = text_.substr(at_).starts_with(word);
    if (found) at_ += word.size();
    return found;
  }

  void expect(char c, std::string_view expected = {}) {
    if (!accept(c)) fail(expected.empty() ? fmt::format("'{}'", c) : std::string(expected));
  }

  [[noreturn]] void fail(std::string_view expected) const {
    const auto found = text_.substr(at_, 10);
    const auto what = found.empty() ? std::string("the end") : fmt::format("\"{}\"", found);
    fail_at(at_, fmt::format("expected {}, found {}", expected, what));
  }

  [[noreturn]] static void fail_at(std::size_t at, std::string_view what) {
    throw ArgumentError(fmt::format("at character {}: {}", at, what));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::map<std::string, Literal> parse_python_dictionary(std::string_view text) { return Parser(text).dictionary(); }

}  // namespace plait::io
