#pragma once

#include <mpi.h>

#include <cstdlib>
#include <new>
#include <span>

#include "plait/base/index.hpp"

namespace plait::bench {

/// Memory whose pages all simulated ranks have in common, if `shared`: what one writes the others read, and messages
/// from one such memory to another aren't copied. So thousands of ranks fit.
class SimulatedMemory {
 public:
  SimulatedMemory(Index bytes, bool shared) : shared_(shared) {
    const auto size = static_cast<std::size_t>(bytes);
    void* const data = shared ? SMPI_SHARED_MALLOC(size) : std::malloc(size);
    if (data == nullptr) throw std::bad_alloc();
    bytes_ = {static_cast<std::byte*>(data), size};
  }
  SimulatedMemory(const SimulatedMemory&) = delete;
  SimulatedMemory& operator=(const SimulatedMemory&) = delete;
  ~SimulatedMemory() { shared_ ? smpi_shared_free(bytes_.data()) : std::free(bytes_.data()); }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
  bool shared_;
};

}  // namespace plait::bench
