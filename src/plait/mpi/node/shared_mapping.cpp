#include "plait/mpi/node/shared_mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"

namespace plait::mpi {

namespace {

constexpr Index huge_page = Buffer::huge_page_bytes;

// The headers of the C library may be older than the kernel.
constexpr int madvise_collapse = 25;

void* mapped(void* address, Index bytes, int protection, int flags, int descriptor) {
  void* const result = ::mmap(address, static_cast<std::size_t>(bytes), protection, flags, descriptor, 0);
  if (result == MAP_FAILED) {
    throw OutOfMemory(std::string("shared memory of the node: mmap: ") + std::strerror(errno));
  }
  return result;
}

}  // namespace

SharedMapping::SharedMapping(const SharedFile& file, Index bytes) {
  constexpr int access = PROT_READ | PROT_WRITE;
  if (bytes < huge_page) {
    void* const begin = mapped(nullptr, bytes, access, MAP_SHARED, file.descriptor());
    bytes_ = {static_cast<std::byte*>(begin), static_cast<std::size_t>(bytes)};
    return;
  }
  // Addresses alone, with room for the beginning to be moved; what is not needed of them is given back.
  const Index all = rounded_up(bytes, huge_page) + huge_page;
  auto* const addresses =
      static_cast<std::byte*>(mapped(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  const auto past = static_cast<Index>(reinterpret_cast<std::uintptr_t>(addresses) % huge_page);
  std::byte* const begin = addresses + (huge_page - past) % huge_page;
  const auto give_back = [](std::byte* from, std::byte* to) {
    if (from != to) ::munmap(from, static_cast<std::size_t>(to - from));
  };
  try {
    mapped(begin, bytes, access, MAP_SHARED | MAP_FIXED, file.descriptor());
  } catch (...) {
    give_back(addresses, addresses + all);
    throw;
  }
  give_back(addresses, begin);
  give_back(begin + rounded_up(bytes, static_cast<Index>(::sysconf(_SC_PAGESIZE))), addresses + all);
  bytes_ = {begin, static_cast<std::size_t>(bytes)};
}

SharedMapping::~SharedMapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

int take_memory(const SharedFile& file, const SharedMapping& mapping) {
  const auto bytes = static_cast<Index>(mapping.bytes().size());
  // The kernel makes a huge page of what has some page already: here the last one, so that the file is long enough,
  // too.
  Index end = 0;
  while (end + huge_page <= bytes) {
    end += huge_page;
    if (const int error = file.take_memory(end - 1, 1); error != 0) return error;
  }
  // Where that fails, what follows takes ordinary pages.
  if (end > 0) ::madvise(mapping.bytes().data(), static_cast<std::size_t>(end), madvise_collapse);
  return file.take_memory(0, bytes);
}

}  // namespace plait::mpi
