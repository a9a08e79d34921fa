#pragma once

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
  /// What was fetched and not taken.
  [[nodiscard]] std::string_view fetched() const {
    return {buffer_.data() + at_, static_cast<std::size_t>(filled_ - at_)};
  }

  /// The next one, or `end_of_file`.
  [[nodiscard]] int peek() {
    if (at_ == filled_) {
      offset_ += std::exchange(at_, 0);
      filled_ = file_.read_at(offset_, std::as_writable_bytes(std::span(buffer_)));
      if (filled_ == 0) return end_of_file;
    }
    return static_cast<unsigned char>(buffer_[static_cast<std::size_t>(at_)]);
  }
  /// \pre  `peek` has found one
  void take() noexcept { ++at_; }

 private:
  File file_;
  std::vector<char> buffer_;
  Index offset_ = 0;  // of the buffer in the file
  Index at_ = 0;      // in the buffer
  Index filled_ = 0;
};

}  // namespace plait::io
