#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/mpi/node/shared_file.hpp"

namespace plait::mpi {

/// A file in shared memory, as this process sees it. It begins on a page, and on a huge page where it is as long as
/// one.
class SharedMapping {
 public:
  SharedMapping() noexcept = default;
  /// \pre  the file is open
  /// \throws OutOfMemory
  SharedMapping(const SharedFile& file, Index bytes);

  SharedMapping(SharedMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  SharedMapping& operator=(SharedMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedMapping();

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// Takes memory for all of a file now: where there is too little, the first touch would end the process. Where the
/// kernel makes huge pages when asked to (Linux 6.1 and later), these serve, for all who map the file as above: they
/// are made in a fraction of the time, touched without a fault for each 4 KiB, and strides across them miss the TLB
/// less.
/// \pre  nobody has touched it
/// \return  0, or an error as in errno
[[nodiscard]] int take_memory(const SharedFile& file, const SharedMapping& mapping);

}  // namespace plait::mpi
