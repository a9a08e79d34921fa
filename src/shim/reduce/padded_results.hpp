#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "plait/base/index.hpp"
#include "plait/collective/node/posted_reductions.hpp"
#include "plait/simd/reduce/element.hpp"

namespace plait::shim::reduce {

// Reductions deliver whole elements. A program may keep something in the padding of MPI's pairs, so results of these
// come to memory of their own first.

/// Copies values and indices of n pairs; the rest of `to` stays as it is.
void copy_without_padding(simd::Element pair, Index n, const void* from, void* to) noexcept;

/// Where n results come before they are in `out`: memory of its own for pairs with padding, else `out` itself.
class Landing {
 public:
  /// Where memory is short results come to `out` itself, for other ranks rely on this one: see `deliver`.
  /// \param padded  the pairs, if they have padding
  Landing(std::optional<simd::Element> padded, Index n, void* out) noexcept
      : padded_(n > 0 ? padded : std::nullopt), n_(n), out_(out), place_(out) {
    if (padded_) take_memory();
  }

  [[nodiscard]] void* place() const noexcept { return place_; }
  /// \throws OutOfMemory  the results are there, but their padding is not as it was
  void deliver() const {
    if (padded_) copy_to_out();
  }

 private:
  void take_memory() noexcept;
  void copy_to_out() const;

  std::optional<simd::Element> padded_;
  Index n_;
  void* out_;
  void* place_;
  std::unique_ptr<std::byte[]> memory_;  // NOLINT(*-avoid-c-arrays): of as many bytes as there are at run time
};

/// `running`, and the delivery of what has landed.
[[nodiscard]] std::unique_ptr<collective::node::PostedReductions::Running> landing(
    std::unique_ptr<collective::node::PostedReductions::Running> running, Landing results);

}  // namespace plait::shim::reduce
