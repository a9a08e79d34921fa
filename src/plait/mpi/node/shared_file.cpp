#include "plait/mpi/node/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

namespace plait::mpi {

namespace {

constexpr const char* folder = "/dev/shm";  // where shm_open makes its files, too
constexpr mode_t for_this_user = S_IRUSR | S_IWUSR;

}  // namespace

Index free_for_shared_files() {
  struct statvfs info{};
  if (::statvfs(folder, &info) != 0) return -1;
  return static_cast<Index>(info.f_bavail) * static_cast<Index>(info.f_frsize);
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : address_(std::exchange(other.address_, {})), owns_name_(std::exchange(other.owns_name_, false)) {}

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(owns_name_, other.owns_name_);
  return *this;
}

SharedFile::~SharedFile() {
  if (owns_name_) ::shm_unlink(address_.name.data());
  if (is_open()) ::close(address_.descriptor);
}

SharedFile SharedFile::opened(int descriptor) {
  SharedFile file;
  file.address_.descriptor = descriptor;
  struct stat info{};
  if (descriptor < 0 || ::fstat(descriptor, &info) != 0) return file;
  file.address_.process = ::getpid();
  file.address_.device = info.st_dev;
  file.address_.inode = info.st_ino;
  return file;
}

SharedFile SharedFile::without_name() {
  // With O_EXCL it can't be given one later.
  return opened(::open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, for_this_user));
}

SharedFile SharedFile::with_name() {
  std::random_device random;
  Address address;
  std::snprintf(address.name.data(), address.name.size(), "/plait-%ld-%08x%08x", static_cast<long>(::getpid()),
                random(), random());
  SharedFile file = opened(::shm_open(address.name.data(), O_RDWR | O_CREAT | O_EXCL, for_this_user));
  file.owns_name_ = file.is_open();
  file.address_.name = address.name;
  return file;
}

SharedFile SharedFile::of_memory() { return opened(::memfd_create("plait", MFD_CLOEXEC)); }

// Another file than the one that is meant is not even opened: that may be a device, which would notice.
SharedFile SharedFile::of_other(const Address& address) {
  if (address.name[0] != '\0') return opened(::shm_open(address.name.data(), O_RDWR, for_this_user));
  std::array<char, 48> path{};
  std::snprintf(path.data(), path.size(), "/proc/%ld/fd/%d", static_cast<long>(address.process), address.descriptor);
  struct stat info{};
  if (::stat(path.data(), &info) != 0) return {};
  if (info.st_dev != address.device || info.st_ino != address.inode) {
    errno = ESRCH;
    return {};
  }
  return opened(::open(path.data(), O_RDWR | O_CLOEXEC));
}

// In steps, each of which may be interrupted by a signal and is then repeated: a profiler's signals come too often
// for the whole to be done between two of them.
int SharedFile::take_memory(Index first, Index bytes) const {
  constexpr Index step = Index{4} << 20;
  for (Index done = 0; done < bytes; done += step) {
    int error = EINTR;
    while (error == EINTR) error = ::posix_fallocate(descriptor(), first + done, std::min(step, bytes - done));
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace plait::mpi
