#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/graph/assignment/assignment.hpp"
#include "plait/graph/assignment/permutation.hpp"

namespace plait::graph {

namespace {

constexpr Index unreachable = std::numeric_limits<Index>::max();

/// What a role loses by each rank, against the best that it could have: from 0 to w(role), row by row.
///
/// The sum of all w is at most 2^62, and that is what keeps the solver from overflowing. Prices begin as minima of
/// columns, so they lie between 0 and any w; those of free ranks stay; and since a role prefers its rank to a free one,
/// its rank's price is at least -w(role). A distance telescopes to losses of different roles and the price of its last
/// rank, so it is no more than the sum of different w.
std::vector<Index> losses_of(matrix_view<const Index> savings) {
  const Index n = savings.rows();
  if (n != savings.columns() || n > std::numeric_limits<int>::max()) {
    throw ArgumentError(fmt::format("savings are {} x {}, expected as many ranks as roles", n, savings.columns()));
  }
  std::uint64_t spreads = 0;
  std::vector<Index> losses(at(n * n));
  for (Index role = 0; role < n; ++role) {
    Index least = 0;
    Index best = 0;
    for (Index rank = 0; rank < n; ++rank) {
      least = std::min(least, savings(role, rank));
      best = std::max(best, savings(role, rank));
    }
    const auto spread = static_cast<std::uint64_t>(best) - static_cast<std::uint64_t>(least);
    if (spread > static_cast<std::uint64_t>(most_savings) - spreads) {
      throw ArgumentError(fmt::format("savings up to role {} may add up to more than 2^62 (role {} has {} to {})", role,
                                      role, least, best));
    }
    spreads += spread;
    for (Index rank = 0; rank < n; ++rank) losses[at(role * n + rank)] = best - savings(role, rank);
  }
  return losses;
}

/// Invariant: each role that has a rank has one where loss - price is least for it, and free ranks keep the price that
/// they began with. Prices only fall; a rank that was taken stays taken.
class DenseSolver {
 public:
  DenseSolver(std::vector<Index> losses, Index n)
      : n_(n), losses_(std::move(losses)), prices_(at(n)), rank_of_(at(n), unassigned), role_of_(at(n), unassigned) {}

  std::vector<int> solve() && {
    if (n_ == 0) return {};
    reduce_columns();
    transfer_reductions();
    reduce_rows();
    distance_.resize(at(n_));
    reached_from_.resize(at(n_));
    ranks_.resize(at(n_));
    for (const int role : dearest_first(free_roles())) augment(role);
    return std::move(rank_of_);
  }

 private:
  struct TwoBest {
    Index least = unreachable;
    Index second = unreachable;
    int rank = unassigned;
    int second_rank = unassigned;
  };

  [[nodiscard]] const Index* losses(int role) const { return &losses_[at(role * n_)]; }

  void assign(int role, int rank) {
    rank_of_[at(role)] = rank;
    role_of_[at(rank)] = role;
  }

  [[nodiscard]] std::vector<int> free_roles() const {
    std::vector<int> roles;
    for (int role = 0; role < n_; ++role) {
      if (rank_of_[at(role)] == unassigned) roles.push_back(role);
    }
    return roles;
  }

  // A role that has much to lose is better served before the others: of products it takes half the time.
  [[nodiscard]] std::vector<int> dearest_first(std::vector<int> roles) const {
    std::ranges::sort(
        roles, {}, [this](int role) { return std::pair(-*std::max_element(losses(role), losses(role) + n_), role); });
    return roles;
  }

  // The least of each column becomes its price. In the order of the roles, each takes one of the ranks that cost it
  // nothing; its own if it can.
  void reduce_columns() {
    std::copy_n(losses_.begin(), n_, prices_.begin());
    for (int role = 1; role < n_; ++role) {
      const Index* loss = losses(role);
      for (Index rank = 0; rank < n_; ++rank) prices_[at(rank)] = std::min(prices_[at(rank)], loss[rank]);
    }
    for (int role = 0; role < n_; ++role) {
      if (losses(role)[role] == prices_[at(role)]) assign(role, role);
    }
    for (int role = 0; role < n_; ++role) {
      const Index* loss = losses(role);
      for (int rank = 0; rank < n_ && rank_of_[at(role)] == unassigned; ++rank) {
        if (loss[rank] == prices_[at(rank)] && role_of_[at(rank)] == unassigned) assign(role, rank);
      }
    }
  }

  [[nodiscard]] TwoBest two_best(int role) const {
    TwoBest found;
    const Index* loss = losses(role);
    for (int rank = 0; rank < n_; ++rank) {
      const Index reduced = loss[rank] - prices_[at(rank)];
      if (reduced >= found.second) continue;
      if (reduced < found.least) {
        found.second = std::exchange(found.least, reduced);
        found.second_rank = std::exchange(found.rank, rank);
      } else {
        found.second = reduced;
        found.second_rank = rank;
      }
    }
    return found;
  }

  // A role that has a rank lowers its price until another rank is as good for it.
  void transfer_reductions() {
    for (int role = 0; role < n_ && n_ > 1; ++role) {
      if (rank_of_[at(role)] == unassigned) continue;
      const TwoBest found = two_best(role);
      if (found.rank == rank_of_[at(role)]) prices_[at(found.rank)] -= found.second - found.least;
    }
  }

  // Each free role takes the rank that is best for it, from another role if need be, and pays what makes the second
  // best as good. Such a war of prices may last as long as prices are high, hence the bound.
  void reduce_rows() {
    std::vector<int> roles = free_roles();
    Index steps = 8 * n_;
    for (int sweep = 0; sweep < 2; ++sweep) {
      std::vector<int> later;
      for (int role : roles) {
        while (role != unassigned && steps-- > 0) role = take_best(role, later);
      }
      roles = std::move(later);
    }
  }

  // Returns the role that has to look at once for another rank.
  int take_best(int role, std::vector<int>& later) {
    const TwoBest found = two_best(role);
    int rank = found.rank;
    if (found.least < found.second) {
      if (n_ > 1) prices_[at(rank)] -= found.second - found.least;
    } else if (role_of_[at(rank)] != unassigned && found.second_rank != unassigned) {
      rank = found.second_rank;
    }
    const int displaced = role_of_[at(rank)];
    assign(role, rank);
    if (displaced == unassigned) return unassigned;
    rank_of_[at(displaced)] = unassigned;
    if (found.least < found.second) return displaced;
    later.push_back(displaced);
    return unassigned;
  }

  // Dijkstra from a free role over loss - price to the nearest free rank. ranks_ lists first the ranks that were looked
  // through, [0, scanned), then those at the least distance, [scanned, nearest), then the others.
  void augment(int free_role) {
    const Index* loss = losses(free_role);
    for (int rank = 0; rank < n_; ++rank) {
      ranks_[at(rank)] = rank;
      distance_[at(rank)] = loss[rank] - prices_[at(rank)];
      reached_from_[at(rank)] = free_role;
    }
    Index scanned = 0;
    Index nearest = 0;
    Index settled = 0;
    Index least = 0;
    int end = unassigned;
    while (end == unassigned) {
      if (scanned == nearest) {
        settled = scanned;
        least = gather_nearest(scanned, nearest);
        end = first_free(scanned, nearest);
        if (end != unassigned) break;
      }
      end = look_through(ranks_[at(scanned++)], least, nearest);
    }
    for (Index i = 0; i < settled; ++i) {
      const int rank = ranks_[at(i)];
      prices_[at(rank)] += distance_[at(rank)] - least;
    }
    int role = unassigned;
    for (int rank = end; role != free_role;) {
      role = reached_from_[at(rank)];
      role_of_[at(rank)] = role;
      std::swap(rank, rank_of_[at(role)]);
    }
  }

  // Moves the ranks at the least distance to the front of those that are left; returns that distance.
  Index gather_nearest(Index scanned, Index& nearest) {
    Index least = unreachable;
    for (Index i = scanned; i < n_; ++i) {
      const Index distance = distance_[at(ranks_[at(i)])];
      if (distance > least) continue;
      if (distance < least) {
        nearest = scanned;
        least = distance;
      }
      std::swap(ranks_[at(i)], ranks_[at(nearest++)]);
    }
    return least;
  }

  [[nodiscard]] int first_free(Index begin, Index end) const {
    for (Index i = begin; i < end; ++i) {
      if (role_of_[at(ranks_[at(i)])] == unassigned) return ranks_[at(i)];
    }
    return unassigned;
  }

  // Shortens distances through the role that has this rank; returns a free rank at the least distance, if one is met.
  int look_through(int through, Index least, Index& nearest) {
    const int role = role_of_[at(through)];
    const Index* loss = losses(role);
    const Index base = loss[through] - prices_[at(through)] - least;
    for (Index i = nearest; i < n_; ++i) {
      const int rank = ranks_[at(i)];
      const Index distance = loss[rank] - prices_[at(rank)] - base;
      if (distance >= distance_[at(rank)]) continue;
      distance_[at(rank)] = distance;
      reached_from_[at(rank)] = role;
      if (distance > least) continue;
      if (role_of_[at(rank)] == unassigned) return rank;
      std::swap(ranks_[at(i)], ranks_[at(nearest++)]);
    }
    return unassigned;
  }

  Index n_;
  std::vector<Index> losses_;
  std::vector<Index> prices_;
  std::vector<int> rank_of_;
  std::vector<int> role_of_;
  std::vector<Index> distance_;
  std::vector<int> reached_from_;
  std::vector<int> ranks_;
};

}  // namespace

std::vector<int> assign_dense(matrix_view<const Index> savings) {
  std::vector<int> rank_of = DenseSolver(losses_of(savings), savings.rows()).solve();
  prefer_own_ranks(rank_of, savings);
  return rank_of;
}

}  // namespace plait::graph
