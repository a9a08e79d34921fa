#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/io/file.hpp"

namespace plait::io {

/// The longest line that a text file may have, in bytes.
inline constexpr Index longest_line = Index{1} << 20;

/// The lines of a text file that begin in bytes [begin, end), in order. Ranges that follow each other and begin where a
/// first line does together give every line once, wherever they meet. Reads a piece at a time.
class TextLines {
 public:
  /// \pre  0 <= first <= begin <= end <= size of the file; a line begins at `first`
  TextLines(const File& file, Index first, Index begin, Index end);

  /// The next line without its end, true until the next call; nothing when there is none.
  ///
  /// \throws FileError  if the file can't be read or a line is longer than `longest_line`
  [[nodiscard]] std::optional<std::string_view> next();

  /// How many bytes of the range the lines so far took.
  [[nodiscard]] Index bytes_done() const noexcept { return std::min(position_, end_) - begin_; }

 private:
  [[nodiscard]] std::string_view unread() const noexcept {
    return {buffer_.data() + at_, static_cast<std::size_t>(filled_ - at_)};
  }
  [[nodiscard]] std::optional<std::string_view> take_line();
  [[nodiscard]] bool refill();

  const File& file_;
  Index begin_;
  Index end_;
  Index position_;            // in the file, of buffer_[at_]
  std::vector<char> buffer_;  // [at_, filled_) is read but not taken
  Index at_ = 0;
  Index filled_ = 0;
};

}  // namespace plait::io
