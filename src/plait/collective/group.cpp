#include "plait/collective/group.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "plait/base/error.hpp"

namespace plait::collective {

Group::Group(const mpi::Context& context, std::vector<int> ranks, int widest)
    : ranks_(std::move(ranks)), widest_(widest == 0 ? static_cast<int>(ranks_.size()) : widest) {
  if (ranks_.empty()) throw ArgumentError("ranks: none, expected at least one");
  std::vector<bool> seen(static_cast<std::size_t>(context.size()), false);
  for (int i = 0; i < size(); ++i) {
    if (rank(i) < 0 || rank(i) >= context.size()) {
      throw ArgumentError("ranks: " + std::to_string(rank(i)) + ", expected 0 to " +
                          std::to_string(context.size() - 1));
    }
    if (seen[static_cast<std::size_t>(rank(i))]) {
      throw ArgumentError("ranks: " + std::to_string(rank(i)) + " comes twice, expected each rank once");
    }
    seen[static_cast<std::size_t>(rank(i))] = true;
    if (rank(i) == context.rank()) me_ = i;
  }
  if (widest_ < size()) {
    throw ArgumentError("widest: " + std::to_string(widest_) + ", expected at least the " + std::to_string(size()) +
                        " ranks of this group");
  }
}

Group Group::all(const mpi::Context& context) {
  std::vector<int> ranks(static_cast<std::size_t>(context.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return {context, std::move(ranks)};
}

Group Group::reversed() const {
  Group other = *this;
  std::reverse(other.ranks_.begin(), other.ranks_.end());
  if (contains_me()) other.me_ = size() - 1 - me_;
  return other;
}

void Group::expect_member(int root) const {
  if (root < 0 || root >= size())
    throw ArgumentError("root: " + std::to_string(root) + ", expected 0 to " + std::to_string(size() - 1));
}

}  // namespace plait::collective
