#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "plait/graph/assignment/assignment.hpp"
#include "plait/graph/assignment/permutation.hpp"

namespace plait::graph {

namespace {

constexpr Index unreached = std::numeric_limits<Index>::max();

/// Invariant: every price is >= 0, role price + rank price >= saving, with equality where the rank is the role's; free
/// ranks have price 0. Prices of ranks only rise, a rank that was taken stays taken, and a role that does better
/// without a rank does so for good.
///
/// A price of a rank is no more than its role's largest saving and a distance no more than that of the role where the
/// search begins, so sums of them stay below the sum of different roles' largest savings, 2^62.
class SparseSolver {
 public:
  explicit SparseSolver(const SparseSavings& savings)
      : savings_(savings), roles_(at(savings.size())), ranks_(at(savings.size())) {}

  PricedAssignment solve() {
    for (const int role : dearest_first(take_in_turn())) augment(role);
    PricedAssignment result;
    for (const Role& role : roles_) {
      result.rank_of.push_back(role.rank);
      result.role_prices.push_back(role.price);
    }
    for (const Rank& rank : ranks_) result.rank_prices.push_back(rank.price);
    return result;
  }

 private:
  struct Role {
    Index price = 0;
    int rank = unassigned;
  };
  struct Rank {
    Index price = 0;
    Index distance = unreached;
    int role = unassigned;
    int reached_from = unassigned;
  };
  /// The best that a role can have, staying without a rank counted in.
  struct TwoBest {
    Index most = 0;
    Index second = 0;
    int rank = unassigned;
  };
  struct Step {
    Index distance = 0;
    int rank = unassigned;
    auto operator<=>(const Step&) const = default;
  };
  /// Where the shortest path ends: at a free rank, or at a role that gives its rank away and stays without.
  struct End {
    Index distance = unreached;
    int rank = unassigned;
    int role = unassigned;
  };

  [[nodiscard]] bool is_free(int rank) const { return ranks_[at(rank)].role == unassigned; }

  // Of equally good ranks rather a free one, else the first.
  [[nodiscard]] TwoBest two_best(int role) const {
    TwoBest found;
    const auto ranks = savings_.ranks(role);
    const auto savings = savings_.savings(role);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const Index gain = savings[k] - ranks_[at(ranks[k])].price;
      if (gain > found.most) {
        found.second = std::exchange(found.most, gain);
        found.rank = ranks[k];
      } else if (gain == found.most && gain > 0) {
        found.second = gain;
        if (is_free(ranks[k]) && !is_free(found.rank)) found.rank = ranks[k];
      } else {
        found.second = std::max(found.second, gain);
      }
    }
    return found;
  }

  // A warm start, the "augmenting row reduction": each role takes the rank that is best for it, from another role if
  // need be, and pays what makes its second best as good. Such a war of prices may last as long as prices are high,
  // hence the bound. Returns the roles that have to search.
  std::vector<int> take_in_turn() {
    std::vector<int> waiting(roles_.size());
    for (std::size_t role = 0; role < roles_.size(); ++role) waiting[role] = static_cast<int>(role);
    Index steps = 8 * savings_.size();
    while (!waiting.empty() && steps > 0) {
      std::vector<int> later;
      for (int role : waiting) {
        while (role != unassigned && steps-- > 0) role = take_best(role, later);
        if (role != unassigned) later.push_back(role);
      }
      waiting = std::move(later);
    }
    return waiting;
  }

  // Returns the role that has to look at once for another rank.
  int take_best(int role, std::vector<int>& later) {
    const TwoBest found = two_best(role);
    roles_[at(role)].price = found.second;
    if (found.most == 0) return unassigned;
    Rank& rank = ranks_[at(found.rank)];
    rank.price += found.most - found.second;
    const int displaced = std::exchange(rank.role, role);
    roles_[at(role)].rank = found.rank;
    if (displaced == unassigned) return unassigned;
    roles_[at(displaced)].rank = unassigned;
    if (found.most > found.second) return displaced;
    later.push_back(displaced);
    return unassigned;
  }

  // A role that has much to lose is better served before the others: of products it takes half the time or less.
  std::vector<int> dearest_first(std::vector<int> waiting) {
    for (const int role : waiting) roles_[at(role)].price = two_best(role).most;
    std::ranges::sort(waiting, {}, [&](int role) { return std::pair(-roles_[at(role)].price, role); });
    return waiting;
  }

  // Dijkstra over  role price + rank price - saving  to the nearest end.
  void augment(int start) {
    roles_[at(start)].price = two_best(start).most;
    End end;
    look_through(start, 0, end);
    Step step;
    while (take_nearest(end.distance, step)) {
      settled_.push_back(step.rank);
      look_through(ranks_[at(step.rank)].role, step.distance, end);
    }
    raise_prices(start, end.distance);
    shift_ranks(start, end);
    for (const int rank : touched_) ranks_[at(rank)].distance = unreached;
    touched_.clear();
    settled_.clear();
    heap_.clear();
    level_.clear();
  }

  void look_through(int role, Index distance, End& end) {
    const Index price = roles_[at(role)].price;
    if (distance + price < end.distance) end = {distance + price, unassigned, role};
    const auto ranks = savings_.ranks(role);
    const auto savings = savings_.savings(role);
    for (std::size_t k = 0; k < ranks.size() && distance < end.distance; ++k) {
      Rank& rank = ranks_[at(ranks[k])];
      const Index reached = distance + (price - savings[k] + rank.price);
      if (reached >= rank.distance || reached >= end.distance) continue;
      if (rank.distance == unreached) touched_.push_back(ranks[k]);
      rank.distance = reached;
      rank.reached_from = role;
      if (rank.role == unassigned) {
        end = {reached, ranks[k], unassigned};
      } else if (reached == distance) {
        level_.push_back(ranks[k]);
      } else {
        heap_.push_back({reached, ranks[k]});
        std::ranges::push_heap(heap_, std::greater<>());
      }
    }
  }

  // Ranks at the distance that the search has come to lie in level_, the others in heap_, there perhaps with distances
  // that were shortened since.
  bool take_nearest(Index limit, Step& step) {
    if (!level_.empty() && ranks_[at(level_.back())].distance < limit) {
      step = {ranks_[at(level_.back())].distance, level_.back()};
      level_.pop_back();
      return true;
    }
    while (!heap_.empty() && heap_.front().distance < limit) {
      step = heap_.front();
      std::ranges::pop_heap(heap_, std::greater<>());
      heap_.pop_back();
      if (step.distance == ranks_[at(step.rank)].distance) return true;
    }
    return false;
  }

  void raise_prices(int start, Index distance) {
    roles_[at(start)].price -= distance;
    for (const int settled : settled_) {
      Rank& rank = ranks_[at(settled)];
      rank.price += distance - rank.distance;
      roles_[at(rank.role)].price -= distance - rank.distance;
    }
  }

  // Along the path, from its end, each role passes its rank on to the role from which it was reached.
  void shift_ranks(int start, const End& end) {
    int rank = end.role == unassigned ? end.rank : std::exchange(roles_[at(end.role)].rank, unassigned);
    while (rank != unassigned) {
      const int role = ranks_[at(rank)].reached_from;
      ranks_[at(rank)].role = role;
      std::swap(rank, roles_[at(role)].rank);
      if (role == start) break;
    }
  }

  const SparseSavings& savings_;
  std::vector<Role> roles_;
  std::vector<Rank> ranks_;
  std::vector<int> touched_;
  std::vector<int> settled_;
  std::vector<int> level_;
  std::vector<Step> heap_;
};

}  // namespace

PricedAssignment assign_with_prices(const SparseSavings& savings) {
  PricedAssignment result = SparseSolver(savings).solve();
  fill_leftover_ranks(result.rank_of);
  prefer_own_ranks(result.rank_of, savings);
  return result;
}

std::vector<int> assign_sparse(const SparseSavings& savings) { return assign_with_prices(savings).rank_of; }

}  // namespace plait::graph
