#pragma once

#include <memory>

#include "plait/base/index.hpp"
#include "plait/collective/node/posted_reductions.hpp"
#include "plait/simd/reduce/element.hpp"

namespace plait::shim::reduce {

// Reductions deliver whole elements. A program may keep something in the padding of MPI's pairs, so results of these
// come to memory of their own first.

/// Copies values and indices of n pairs; the rest of `to` stays as it is.
void copy_without_padding(simd::Element pair, Index n, const void* from, void* to) noexcept;

/// Where n results come before they are in `out`: memory of its own for elements with padding, else `out` itself.
class Landing {
 public:
  /// Where memory is short results come to `out` itself, for other ranks rely on this one: see `deliver`.
  Landing(simd::Element element, Index n, void* out) noexcept;

  [[nodiscard]] void* place() const noexcept { return place_; }
  /// \throws OutOfMemory  the results are there, but their padding is not as it was
  void deliver() const;

 private:
  simd::Element element_;
  Index n_;
  void* out_;
  void* place_;
  std::unique_ptr<std::byte[]> memory_;  // NOLINT(*-avoid-c-arrays): of as many bytes as there are at run time
};

/// `running`, and the delivery of what has landed.
[[nodiscard]] std::unique_ptr<collective::PostedReductions::Running> landing(
    std::unique_ptr<collective::PostedReductions::Running> running, Landing results);

}  // namespace plait::shim::reduce
