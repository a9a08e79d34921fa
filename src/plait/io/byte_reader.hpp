#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/io/file.hpp"

namespace plait::io {

/// The bytes of a file in turn, fetched in pieces.
class ByteReader {
 public:
  static constexpr int end_of_file = -1;

  /// \throws FileError  it can't be read, now or later
  explicit ByteReader(const std::string& path)
      : file_(File::open_to_read(path)), buffer_(static_cast<std::size_t>(Index{1} << 20)) {
    static_cast<void>(peek());
  }

  [[nodiscard]] const File& file() const noexcept { return file_; }
  /// How many were taken.
  [[nodiscard]] Index position() const noexcept { return offset_ + at_; }
  /// The next ones, so many at least or all that there are.
  ///
  /// \pre  at_least <= 2^20
  [[nodiscard]] std::string_view ahead(Index at_least) {
    if (filled_ - at_ < at_least) fetch();
    return {buffer_.data() + at_, static_cast<std::size_t>(filled_ - at_)};
  }
  /// The next one, or `end_of_file`.
  [[nodiscard]] int peek() {
    if (at_ == filled_) fetch();
    return at_ == filled_ ? end_of_file : static_cast<unsigned char>(buffer_[static_cast<std::size_t>(at_)]);
  }
  /// \pre  `peek` or `ahead` has found them
  void take(Index count = 1) noexcept { at_ += count; }

 private:
  /// Reads on behind what is not taken.
  void fetch() {
    std::copy(buffer_.begin() + at_, buffer_.begin() + filled_, buffer_.begin());
    filled_ -= at_;
    offset_ += std::exchange(at_, 0);
    filled_ += file_.read_at(offset_ + filled_,
                             std::as_writable_bytes(std::span(buffer_).subspan(static_cast<std::size_t>(filled_))));
  }

  File file_;
  std::vector<char> buffer_;
  Index offset_ = 0;  // of the buffer in the file
  Index at_ = 0;      // in the buffer
  Index filled_ = 0;
};

}  // namespace plait::io
