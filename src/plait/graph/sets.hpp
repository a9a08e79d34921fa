#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::graph {

/// Sets of the numbers below a count that are united, each told by its least number, the root.
class Sets {
 public:
  explicit Sets(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), std::size_t{0}); }
  [[nodiscard]] std::size_t root(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void unite(std::size_t i, std::size_t j) {
    i = root(i);
    j = root(j);
    parents_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<std::size_t> parents_;
};

/// Labels that mean the same, as those of each pair do: what ranks have labelled by themselves, each its own part,
/// where pairs tell which labels of several ranks meet. The least label stands for all that it is joined with.
class JoinedLabels {
 public:
  explicit JoinedLabels(std::span<const std::array<Index, 2>> pairs) {
    for (const auto& pair : pairs) labels_.insert(labels_.end(), pair.begin(), pair.end());
    std::ranges::sort(labels_);
    labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
    Sets sets(labels_.size());
    for (const auto& [one, other] : pairs) sets.unite(place_of(one), place_of(other));
    for (std::size_t place = 0; place < labels_.size(); ++place) least_.push_back(labels_[sets.root(place)]);
  }

  /// Of those that it is joined with, or the label itself, which need not be in any pair.
  [[nodiscard]] Index least(Index label) const {
    const std::size_t place = place_of(label);
    return place < labels_.size() && labels_[place] == label ? least_[place] : label;
  }
  /// The least labels of all that are joined, ascending.
  [[nodiscard]] std::vector<Index> leasts() const {
    std::vector<Index> result;
    std::ranges::copy_if(labels_, std::back_inserter(result), [&](Index label) { return least(label) == label; });
    return result;
  }

 private:
  [[nodiscard]] std::size_t place_of(Index label) const {
    return at(std::ranges::lower_bound(labels_, label) - labels_.begin());
  }

  std::vector<Index> labels_, least_;  // ascending; of each the least one
};

}  // namespace plait::graph
