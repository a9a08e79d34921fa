#pragma once

#include <string>
#include <string_view>

#include "plait/base/index.hpp"

namespace plait::layout {

/// A text and a place in it, counted in bytes: what the parser of the text form of a layout is made of.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t place() const noexcept { return place_; }
  [[nodiscard]] bool at_end() const noexcept { return place_ == text_.size(); }

  /// \throws LayoutError  in three lines: `what`, the text, and a caret under the given place
  [[noreturn]] void fail(std::size_t place, const std::string& what) const;
  [[noreturn]] void fail_here(const std::string& what) const { fail(place_, what); }

  /// Moves past this character, if it is the next one.
  bool take(char c) noexcept;

  /// Moves past this character, or fails and names what it should have followed.
  void expect(char c, std::string_view after);

  /// Moves past a comma that belongs to a value.
  bool take_comma_of_value() noexcept { return !at_option() && take(','); }

  /// Letters and hyphens; may be empty.
  std::string_view word() noexcept;

  /// A decimal number from `least` to `most`; `what` names it in the texts of errors.
  Index number(std::string_view what, Index least, Index most);

  /// Everything up to the next option or the end.
  std::string_view value() noexcept;

 private:
  /// Whether a comma and `name=` follow.
  [[nodiscard]] bool at_option() const noexcept;

  std::string_view text_;
  std::size_t place_ = 0;
};

}  // namespace plait::layout
