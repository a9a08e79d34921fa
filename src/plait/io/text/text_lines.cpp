#include "plait/io/text/text_lines.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "plait/base/contract.hpp"

namespace plait::io {

TextLines::TextLines(const File& file, Index first, Index begin, Index end)
    : file_(file), begin_(begin), end_(end), position_(begin), buffer_(static_cast<std::size_t>(2 * longest_line)) {
  PLAIT_ASSERT(0 <= first && first <= begin && begin <= end, "a range lies in the file");
  if (begin == first || begin == end) return;
  // A line begins at `begin` only if one ends right before it; otherwise its beginning belongs to an earlier range.
  position_ = begin - 1;
  static_cast<void>(take_line());
}

std::optional<std::string_view> TextLines::next() {
  if (position_ >= end_) return std::nullopt;
  return take_line();
}

std::optional<std::string_view> TextLines::take_line() {
  std::size_t length = unread().find('\n');
  while (length == std::string_view::npos) {
    const auto had = static_cast<std::size_t>(filled_ - at_);
    if (static_cast<Index>(had) > longest_line) {
      throw FileError(
          fmt::format("{}: the line at byte {} is longer than {} bytes", file_.path(), position_, longest_line));
    }
    if (!refill()) break;
    length = unread().find('\n', had);
  }
  const bool last = length == std::string_view::npos;  // and it has no end
  if (last && at_ == filled_) return std::nullopt;
  const auto line = unread().substr(0, length);
  const auto taken = static_cast<Index>(line.size()) + (last ? 0 : 1);
  at_ += taken;
  position_ += taken;
  return line;
}

// Reads on behind what is not taken; false at the end of the file.
bool TextLines::refill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, static_cast<std::size_t>(filled_ - at_));
  filled_ -= at_;
  at_ = 0;
  const auto room = std::as_writable_bytes(std::span(buffer_)).subspan(static_cast<std::size_t>(filled_));
  const Index got = file_.read_at(position_ + filled_, room);
  filled_ += got;
  return got > 0;
}

}  // namespace plait::io
