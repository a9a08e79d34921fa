#pragma once

#include <vector>

namespace plait::collective {

/// binomial: of logarithmic depth; linear: everybody is joined to the root, which is better for long messages that
/// differ.
enum class TreeShape : unsigned char { binomial, linear };

/// A tree over 0 … size - 1, as one of them sees it. Subtrees have consecutive members, wherever the root is: those of
/// a binomial tree are the blocks of 2^k that begin at multiples of 2^k, each headed by its first member, but for those
/// that the root is in. So what is combined along it keeps its order, and is combined alike for all roots.
struct Tree {
  /// Connections of the same level are used at one time; on a path to the root, levels rise.
  struct Child {
    int index;
    int level;
    int first, last;  ///< its subtree: [first, last)
  };
  int first, last;              ///< the own subtree: [first, last)
  int parent = -1;              ///< -1 at the root
  int parent_level = 0;         ///< of the connection to it
  std::vector<Child> children;  ///< by their levels, from the lowest on
};

[[nodiscard]] Tree tree(TreeShape shape, int size, int root, int me);

/// How many levels a tree has, whichever its root is.
[[nodiscard]] int depth(TreeShape shape, int size) noexcept;

}  // namespace plait::collective
