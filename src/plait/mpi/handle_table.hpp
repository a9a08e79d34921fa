#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "plait/base/contract.hpp"

namespace plait::mpi {

/// What is known of a few handles of MPI, whether they are numbers (MPICH) or addresses (Open MPI). It is filled once
/// and then found in by any thread, in a few nanoseconds.
template <class Handle, class Value, std::size_t slots>
  requires(std::has_single_bit(slots))
class HandleTable {
 public:
  /// Of two values for one handle the first stays. `none` is the handle that stands for no object, and never found.
  explicit HandleTable(Handle none) : none_(none) { handles_.fill(none); }

  void add(Handle handle, Value value) {
    const std::size_t at = slot(handle);
    if (handle == none_ || handles_[at] == handle) return;
    ++used_;
    PLAIT_ASSERT(used_ < slots, "a slot stays free, where a search ends");
    handles_[at] = handle;
    values_[at] = value;
  }

  [[nodiscard]] const Value* find(Handle handle) const noexcept {
    const std::size_t at = slot(handle);
    return handle != none_ && handles_[at] == handle ? &values_[at] : nullptr;
  }

 private:
  // Where the handle is, or where it would be.
  [[nodiscard]] std::size_t slot(Handle handle) const noexcept {
    std::uint64_t key = 0;
    if constexpr (std::is_pointer_v<Handle>) {
      key = reinterpret_cast<std::uintptr_t>(handle);
    } else {
      key = static_cast<std::uint64_t>(handle);
    }
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;  // spreads regular keys: Knuth, volume 3, section 6.4
    std::size_t at = key * golden >> (64 - std::countr_zero(slots));
    while (handles_[at] != handle && handles_[at] != none_) at = (at + 1) % slots;
    return at;
  }

  std::array<Handle, slots> handles_{};
  std::array<Value, slots> values_{};
  Handle none_;
  std::size_t used_ = 0;
};

}  // namespace plait::mpi
