#pragma once

#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/collective/node/node_slices.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective {

using schedule::Combine;

/// A reduction among the ranks of a node, checked, as the ways to do it take it. All but the two addresses is the same
/// on all ranks.
struct NodeReduction {
  const Combine* combine;
  const std::byte* in;  ///< n elements
  std::byte* out;       ///< where this rank gets a result; it is `in`, or they do not overlap
  Index n;              ///< at least 1
  Deliver deliver;
  int root;
  std::span<const Index> begins;  ///< the slices, with n behind them

  [[nodiscard]] bool delivers_to(int rank) const noexcept {
    return deliver == Deliver::to_all || (deliver == Deliver::to_root && rank == root);
  }
  [[nodiscard]] bool is_prefix() const noexcept {
    return deliver == Deliver::up_to_itself || deliver == Deliver::up_to_the_last;
  }
  /// Whose operands are in what a rank gets: the first ones.
  [[nodiscard]] int ranks_up_to(int rank) const noexcept { return deliver == Deliver::up_to_itself ? rank + 1 : rank; }
  [[nodiscard]] Index slice_size(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return begins[at + 1] - begins[at];
  }
};

}  // namespace plait::collective
