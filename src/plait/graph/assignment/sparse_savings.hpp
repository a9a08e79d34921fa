#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::graph {

/// What is saved if `rank` plays `role`.
struct Saving {
  int role = 0;
  int rank = 0;
  Index saving = 0;
};

/// A square table of savings, compressed by rows: for each role the ranks that save something, increasing, and how much
/// each of them saves, > 0. Pairs without an entry save nothing. Takes 12 bytes an entry.
///
/// The roles' largest savings add up to 2^62 at most, so no assignment's sum overflows.
class SparseSavings {
 public:
  SparseSavings() = default;

  /// From entries in any order; those of the same role and rank are added up, those of 0 are left out.
  ///
  /// \throws ArgumentError  n, a role or a rank is out of range, a saving is negative, or sums exceed 2^62
  [[nodiscard]] static SparseSavings from_entries(Index n, std::span<const Saving> entries);

  /// From entries that are sorted by role: role i has ranks[offsets[i]] up to ranks[offsets[i + 1] - 1], increasing.
  /// Takes the vectors over without a copy.
  ///
  /// \throws ArgumentError  sizes don't fit, ranks are out of range or don't increase, a saving isn't positive, or the
  ///                        roles' largest ones add up to more than 2^62
  [[nodiscard]] static SparseSavings from_rows(std::vector<Index> offsets, std::vector<int> ranks,
                                               std::vector<Index> savings);

  /// Roles, and as many ranks.
  [[nodiscard]] Index size() const noexcept { return static_cast<Index>(offsets_.size()) - 1; }
  [[nodiscard]] Index entries() const noexcept { return offsets_.back(); }

  [[nodiscard]] std::span<const int> ranks(Index role) const { return part(ranks_, role); }
  [[nodiscard]] std::span<const Index> savings(Index role) const { return part(savings_, role); }

  /// What `rank` saves as `role`, perhaps 0. Takes O(log entries of the role).
  [[nodiscard]] Index operator()(Index role, Index rank) const {
    const auto mine = ranks(role);
    const auto found = std::ranges::lower_bound(mine, rank);
    if (found == mine.end() || *found != rank) return 0;
    return savings(role)[static_cast<std::size_t>(found - mine.begin())];
  }

 private:
  template <class T>
  [[nodiscard]] std::span<const T> part(const std::vector<T>& all, Index role) const {
    const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(role)]);
    const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(role) + 1]);
    return std::span<const T>(all).subspan(begin, end - begin);
  }

  std::vector<Index> offsets_ = {0};
  std::vector<int> ranks_;
  std::vector<Index> savings_;
};

}  // namespace plait::graph
