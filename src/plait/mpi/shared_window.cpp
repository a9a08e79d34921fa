#include "plait/mpi/shared_window.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

namespace {

// What segments of these sizes take together, or the largest number if that is more.
Index total_bytes(const std::vector<Index>& sizes) {
  constexpr Index most = std::numeric_limits<Index>::max();
  constexpr Index page = 4096;
  Index total = 0;
  for (const Index size : sizes) {
    if (size > most - page - total) return most;
    total += (size + page - 1) / page * page;
  }
  return total;
}

// Of a file in shared memory for as long as its window is being made: nobody else's, on any node.
using Name = std::array<char, 48>;

Name new_name() {
  std::random_device random;
  Name name{};
  std::snprintf(name.data(), name.size(), "/plait-%ld-%08x%08x", static_cast<long>(::getpid()), random(), random());
  return name;
}

// Closed when the mapping is made, which keeps the file.
class File {
 public:
  File(const char* name, int flags) : descriptor_(::shm_open(name, flags, S_IRUSR | S_IWUSR)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

[[noreturn]] void throw_out_of_memory(const char* what, int error) {
  throw OutOfMemory(std::string("shared memory of the node: ") + what + ": " + std::strerror(error));
}

}  // namespace

Index free_shared_memory() {
  struct statvfs info{};
  if (::statvfs("/dev/shm", &info) != 0) return std::numeric_limits<Index>::max();
  return static_cast<Index>(info.f_bavail) * static_cast<Index>(info.f_frsize);
}

SharedWindow::Mapping::Mapping(const char* name, Index bytes, bool create) {
  const File file(name, create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR);
  if (file.descriptor() < 0) throw_out_of_memory("shm_open", errno);
  // Takes the memory now: where there is too little, the first touch would end the job.
  const int error = create ? ::posix_fallocate(file.descriptor(), 0, bytes) : 0;
  if (error != 0) throw_out_of_memory("posix_fallocate", error);
  void* address =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED) throw_out_of_memory("mmap", errno);
  bytes_ = {static_cast<std::byte*>(address), static_cast<std::size_t>(bytes)};
}

SharedWindow::Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

SharedWindow::SharedWindow(const Communicator& node, Index bytes) {
  PLAIT_ASSERT(bytes >= 0, "a segment has no negative size");
  std::vector<Index> sizes;
  Index available = std::numeric_limits<Index>::max();
  for (const auto& [size, free] : all_gather(node, std::array{bytes, free_shared_memory()})) {
    sizes.push_back(size);
    available = std::min(available, free);
  }
  const Index wanted = total_bytes(sizes);
  if (wanted > available) {
    throw OutOfMemory("shared memory of the node: " + std::to_string(wanted) + " bytes wanted, " +
                      std::to_string(available) + " free in /dev/shm");
  }

  segments_.resize(sizes.size());
  std::string failure;
  const auto map = [&](int rank, const Name& name, bool create) {
    const Index size = sizes[static_cast<std::size_t>(rank)];
    if (size == 0 || !failure.empty()) return;
    try {
      segments_[static_cast<std::size_t>(rank)] = Mapping(name.data(), size, create);
    } catch (const OutOfMemory& error) {
      failure = error.what();
    }
  };
  // Everybody makes a segment, then opens those of the others, then nobody needs the names any more.
  const Name own = new_name();
  map(node.rank(), own, true);
  const std::vector<Name> names = all_gather(node, own);
  for (int rank = 0; rank < node.size(); ++rank) {
    if (rank != node.rank()) map(rank, names[static_cast<std::size_t>(rank)], false);
  }
  const Index failed = all_reduce(node, Index{failure.empty() ? 0 : 1}, Operation::maximum());
  if (bytes > 0) ::shm_unlink(own.data());
  if (failed != 0) throw OutOfMemory(failure.empty() ? "shared memory of the node: another rank has none" : failure);
}

}  // namespace plait::mpi
