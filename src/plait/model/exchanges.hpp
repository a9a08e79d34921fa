#pragma once

#include "plait/base/index.hpp"
#include "plait/model/path.hpp"
#include "plait/model/placement.hpp"

/// Parts that algorithms of several operations have in common.
namespace plait::model {

/// ceil(log2 ranks)
[[nodiscard]] constexpr int tree_depth(int ranks) noexcept {
  int depth = 0;
  while ((Index{1} << depth) < ranks) ++depth;
  return depth;
}

/// The highest power of two that is no more than `ranks`: as many take part in recursive halving and doubling.
[[nodiscard]] constexpr Index largest_power(int ranks) noexcept {
  Index power = 1;
  while (2 * power <= ranks) power *= 2;
  return power;
}

/// bytes / parts, rounded up: the largest of parts that are as even as can be.
[[nodiscard]] constexpr Index largest_part(Index bytes, Index parts) noexcept { return (bytes + parts - 1) / parts; }

/// P - 1 steps of a P-th around the ring of all ranks.
void add_ring(Path& path, Placement placement, Index bytes, bool combines);

/// Before and after algorithms for powers of two, ranks beyond the highest one hand their vector to another rank, and
/// get back what is theirs.
void add_hand_over(Path& path, Placement placement, Index bytes, bool combines);

/// Exchanges of a half, a quarter … at distances that double (or, if gathered, the same backwards).
void add_halving(Path& path, Placement placement, Index bytes, bool combines);

/// Up or down a binomial tree, with a half of all, a quarter …
void add_halving_tree(Path& path, Placement placement, Index bytes);

/// Up or down a binomial tree, with everything in every step.
void add_tree(Path& path, Placement placement, Index bytes, bool combines);

}  // namespace plait::model
