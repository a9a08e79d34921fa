#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"

namespace plait::io {

/// How much one system call moves: long enough that calls cost nothing, short enough for progress to be told.
inline constexpr Index piece_bytes = Index{16} << 20;

/// "PATH: what failed: the system's words for this errno".
[[nodiscard]] FileError system_error(std::string_view path, std::string_view what, int error_number);

/// Which file it is and which state of it, as this machine tells it: another file of the same name differs, and so does
/// the same file after something was written into it. Another machine may tell another identity of the same file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  Index bytes = 0;
  Index written_seconds = 0;
  Index written_nanoseconds = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// An open regular file, read and written at 64-bit offsets. It has no position, so that nothing depends on order.
///
/// All throw FileError, beginning with the path.
class File {
 public:
  /// Opens a file that is there. Directories and devices are refused with their kind.
  [[nodiscard]] static File open_to_read(std::string path);
  [[nodiscard]] static File open_to_write(std::string path, std::string shown_as);

  /// Makes a file, readable and writable as the umask allows. Errors name `shown_as` instead of `path`.
  [[nodiscard]] static File create(std::string path, std::string shown_as);

  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  /// Nothing more is read or written.
  void close() noexcept;

  /// The name that errors begin with.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// In bytes.
  [[nodiscard]] Index size() const;

  [[nodiscard]] FileIdentity identity() const;

  /// Fills `into` from this offset on and returns the number of bytes that there were: fewer only at the end of the
  /// file.
  [[nodiscard]] Index read_at(Index offset, std::span<std::byte> into) const;

  void write_at(Index offset, std::span<const std::byte> bytes) const;

  /// Makes room for `bytes` bytes on the disk, so that a lack of it shows before they are written. Does nothing on file
  /// systems that can't.
  void reserve(Index bytes) const;

  /// Returns when everything that this process wrote lies on the disk.
  void sync() const;

 private:
  File(int descriptor, std::string path) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

}  // namespace plait::io
