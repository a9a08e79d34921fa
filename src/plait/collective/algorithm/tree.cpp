#include "plait/collective/algorithm/tree.hpp"

#include <algorithm>

#include "plait/base/doublings.hpp"

namespace plait::collective {

namespace {

// At level k two neighbouring blocks of 2^k are joined by their heads.
Tree binomial_tree(int size, int root, int me) {
  Tree tree{.first = me, .last = me + 1, .children = {}};
  for (int level = 0; (1 << level) < size; ++level) {
    const int block = me >> level << level;
    const int other = block ^ (1 << level);
    const auto holds_root = [&](int first) { return first <= root && root < first + (1 << level); };
    if (other >= size) continue;
    if (me != root && (holds_root(other) || other < block)) {
      tree.parent = holds_root(other) ? root : other;
      tree.parent_level = level;
      break;
    }
    const int other_last = std::min(other + (1 << level), size);
    tree.children.push_back({other, level, other, other_last});
    tree.first = std::min(tree.first, other);
    tree.last = std::max(tree.last, other_last);
  }
  return tree;
}

Tree linear_tree(int size, int root, int me) {
  if (me != root) return {.first = me, .last = me + 1, .parent = root, .children = {}};
  Tree tree{.first = 0, .last = size, .children = {}};
  for (int index = 0; index < size; ++index) {
    if (index != root) tree.children.push_back({index, 0, index, index + 1});
  }
  return tree;
}

}  // namespace

Tree tree(TreeShape shape, int size, int root, int me) {
  return shape == TreeShape::binomial ? binomial_tree(size, root, me) : linear_tree(size, root, me);
}

int depth(TreeShape shape, int size) noexcept {
  return shape == TreeShape::linear ? std::min(size - 1, 1) : doublings(size);
}

}  // namespace plait::collective
