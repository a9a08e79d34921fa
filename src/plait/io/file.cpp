#include "plait/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace plait::io {

namespace {

static_assert(sizeof(off_t) == sizeof(Index), "file offsets have 64 bits");

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "no regular file";
}

// Repeats a system call that a signal interrupted.
template <class F>
auto uninterrupted(F call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace

FileError system_error(std::string_view path, std::string_view what, int error_number) {
  return FileError(fmt::format("{}: {}: {}", path, what, std::generic_category().message(error_number)));
}

File File::open_to_read(std::string path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes would wait for ever.
  const int descriptor = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (descriptor == -1) throw system_error(path, "can't be opened", errno);
  File file(descriptor, std::move(path));
  struct stat status{};
  if (::fstat(descriptor, &status) == -1) throw system_error(file.path_, "can't be examined", errno);
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("{}: is {}; expected a regular file", file.path_, kind_of(status.st_mode)));
  }
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);  // only advice
  return file;
}

File File::open_to_write(std::string path, std::string shown_as) {
  const int descriptor = uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); });
  if (descriptor == -1) {
    // Most often the folder is a node's own.
    const auto what = fmt::format("{} can't be opened for writing (do all nodes share its folder?)", path);
    throw system_error(shown_as, what, errno);
  }
  return File(descriptor, std::move(shown_as));
}

File File::create(std::string path, std::string shown_as) {
  constexpr mode_t all_that_umask_allows = 0666;
  const int descriptor = uninterrupted(
      [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, all_that_umask_allows); });
  if (descriptor == -1) throw system_error(shown_as, fmt::format("{} can't be made", path), errno);
  return File(descriptor, std::move(shown_as));
}

File::File(File&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

File::~File() { close(); }

void File::close() noexcept {
  if (descriptor_ != -1) ::close(std::exchange(descriptor_, -1));
}

Index File::size() const {
  struct stat status{};
  if (::fstat(descriptor_, &status) == -1) throw system_error(path_, "can't be examined", errno);
  return status.st_size;
}

FileIdentity File::identity() const {
  struct stat status{};
  if (::fstat(descriptor_, &status) == -1) throw system_error(path_, "can't be examined", errno);
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

Index File::read_at(Index offset, std::span<std::byte> into) const {
  const auto wanted = static_cast<Index>(into.size());
  Index done = 0;
  while (done < wanted) {
    const auto piece = static_cast<std::size_t>(std::min(wanted - done, piece_bytes));
    const Index got = uninterrupted([&] { return ::pread(descriptor_, into.data() + done, piece, offset + done); });
    if (got == -1) {
      throw system_error(path_, fmt::format("reading {} bytes at byte {} failed", piece, offset + done), errno);
    }
    if (got == 0) break;
    done += got;
  }
  return done;
}

void File::write_at(Index offset, std::span<const std::byte> bytes) const {
  const auto wanted = static_cast<Index>(bytes.size());
  Index done = 0;
  while (done < wanted) {
    const auto piece = static_cast<std::size_t>(std::min(wanted - done, piece_bytes));
    const Index put = uninterrupted([&] { return ::pwrite(descriptor_, bytes.data() + done, piece, offset + done); });
    if (put <= 0) {
      const int reason = put == 0 ? ENOSPC : errno;
      throw system_error(path_, fmt::format("writing {} bytes at byte {} failed", piece, offset + done), reason);
    }
    // The disk begins to write now, and not when `sync` waits for it: half as fast again on an ext4 disk.
    if (put == piece_bytes) ::sync_file_range(descriptor_, offset + done, put, SYNC_FILE_RANGE_WRITE);
    done += put;
  }
}

void File::reserve(Index bytes) const {
  if (bytes == 0) return;
  struct statvfs system{};
  const bool known = ::fstatvfs(descriptor_, &system) == 0;
  const auto free = known ? static_cast<Index>(system.f_bavail) * static_cast<Index>(system.f_frsize) : Index{0};
  // Not posix_fallocate, which writes into every block where the file system can't reserve.
  if (uninterrupted([&] { return ::fallocate(descriptor_, 0, 0, bytes); }) == 0) return;
  const int reason = errno;
  if (reason == EDQUOT || reason == EFBIG) throw system_error(path_, fmt::format("{} bytes are needed", bytes), reason);
  if (reason == ENOSPC || (known && free < bytes)) {
    throw system_error(path_, fmt::format("{} bytes are needed, {} are free", bytes, free), ENOSPC);
  }
}

void File::sync() const {
  if (uninterrupted([&] { return ::fsync(descriptor_); }) == -1) {
    throw system_error(path_, "can't be written to the disk", errno);
  }
}

}  // namespace plait::io
