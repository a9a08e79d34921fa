#pragma once

#include <cstdint>

#include "plait/collective/node/node_reduction.hpp"

namespace plait::collective {

/// What has to be the same on all ranks of a reduction, in a word that travels beside its data: which reduction it is,
/// of how many elements of what kind, by what operation, to which root. Of callers' own operations and elements, it
/// tells that they are such.
class NodeArguments {
 public:
  explicit NodeArguments(const NodeReduction& reduction) noexcept
      : word_(static_cast<std::uint64_t>(reduction.deliver) |
              static_cast<std::uint64_t>(reduction.combine->name().element) << element_at |
              static_cast<std::uint64_t>(reduction.combine->name().operation) << operation_at |
              (static_cast<std::uint64_t>(reduction.n) << n_at & ~(~std::uint64_t{0} << root_at)) |
              static_cast<std::uint64_t>(reduction.root) << root_at) {}
  /// Of a rank whose arguments are wrong, so that it can't take part.
  [[nodiscard]] static NodeArguments refused() noexcept { return NodeArguments(~std::uint64_t{0}); }
  explicit NodeArguments(std::uint64_t word) noexcept : word_(word) {}

  /// The first bits of what the word consists of; of n and of roots it has as many as fit.
  static constexpr int element_at = 3;
  static constexpr int operation_at = 8;
  static constexpr int n_at = 12;
  static constexpr int root_at = 55;

  [[nodiscard]] std::uint64_t word() const noexcept { return word_; }
  friend bool operator==(NodeArguments, NodeArguments) = default;

  /// \throws ArgumentError  naming what differs between this rank's and rank 0's, and both values
  [[noreturn]] void throw_difference(int rank, NodeArguments of_first) const;

 private:
  std::uint64_t word_;
};

}  // namespace plait::collective
