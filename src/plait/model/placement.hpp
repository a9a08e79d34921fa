#pragma once

namespace plait::model {

/// Where the ranks of an operation are: dealt to the nodes in order, as many to each (the last may have fewer).
struct Placement {
  int ranks = 1;
  int ranks_per_node = 1;

  [[nodiscard]] constexpr int nodes() const noexcept { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  friend constexpr bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace plait::model
