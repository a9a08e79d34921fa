#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/graph/assignment/assignment.hpp"
#include "plait/graph/assignment/permutation.hpp"
#include "plait/graph/assignment/sparse_savings.hpp"

namespace plait::graph {

namespace {

constexpr Index joining_at_once = 16;  // savings of a role, of each sort

class Core {
 public:
  Core(Index n, const SavingsOfRole& savings_of)
      : n_(n),
        savings_of_(savings_of),
        savings_(SparseSavings::from_entries(n, {})),
        of_role_(at(n)),
        of_rank_(at(n)),
        row_(at(n)) {}

  std::vector<int> solve() {
    reduce();
    PricedAssignment found = assign_with_prices(savings_);
    while (join_what_refutes(found)) {
      savings_ = SparseSavings::from_entries(n_, entries_);
      found = assign_with_prices(savings_);
    }
    return std::move(found.rank_of);
  }

 private:
  // What a role saves in any case, and what a rank saves in any case beyond that, doesn't matter for the permutation.
  // Without it pairs outside the core, which the sparse solver takes to save nothing, come closer to what they are.
  void reduce() {
    Index sum = 0;
    for (Index role = 0; role < n_; ++role) {
      savings_of_(role, row_);
      const auto [least, best] = std::ranges::minmax(row_);
      if (least < 0 || best > most_savings - sum) {
        throw ArgumentError(
            fmt::format("role {} saves {} to {}, expected at least 0 and 2^62 at most with the largest of "
                        "the roles before it",
                        role, least, best));
      }
      sum += best;
      of_role_[at(role)] = least;
      for (std::size_t rank = 0; rank < row_.size(); ++rank) {
        of_rank_[rank] = role == 0 ? row_[rank] - least : std::min(of_rank_[rank], row_[rank] - least);
      }
    }
  }

  void read_row(Index role) {
    savings_of_(role, row_);
    for (std::size_t rank = 0; rank < row_.size(); ++rank) row_[rank] -= of_role_[at(role)] + of_rank_[rank];
  }

  // Each role that some rank would serve better than its prices tell brings that rank, those that are best for it once
  // the roles before it have outbid each other, and a sample of those that refute its prices. Without bids all would
  // bring the same few ranks, without a sample prices would spread to few ranks at a time.
  bool join_what_refutes(const PricedAssignment& found) {
    const std::vector<Index>& prices = found.rank_prices;
    std::vector<Index> bids = prices;
    const std::size_t before = entries_.size();
    for (Index role = 0; role < n_; ++role) {
      read_row(role);
      const Index price = found.role_prices[at(role)];
      const int refuting = best_rank(prices);
      if (row_[at(refuting)] - prices[at(refuting)] <= price) continue;
      joining_ = {refuting};
      find_best_gains(role, bids);
      for (const auto& [gain, rank] : best_gains_) joining_.push_back(rank);
      if (before > 0) sample(role, prices, price);
      join(role);
      if (best_gains_.empty()) continue;
      const auto [least, dearest] = std::ranges::minmax(best_gains_);
      bids[at(dearest.second)] += dearest.first - least.first + 1;
    }
    return entries_.size() > before;
  }

  void sample(Index role, const std::vector<Index>& prices, Index price) {
    const Index stride = std::max<Index>(1, n_ / joining_at_once);
    for (Index rank = (role * 7) % stride; rank < n_; rank += stride) {
      if (row_[at(rank)] - prices[at(rank)] > price) joining_.push_back(static_cast<int>(rank));
    }
  }

  // Those that are there already, or would bring nothing, stay out.
  void join(Index role) {
    std::ranges::sort(joining_);
    joining_.erase(std::unique(joining_.begin(), joining_.end()), joining_.end());
    for (const int rank : joining_) {
      if (savings_(role, rank) == 0 && row_[at(rank)] > 0)
        entries_.push_back({static_cast<int>(role), rank, row_[at(rank)]});
    }
  }

  [[nodiscard]] int best_rank(const std::vector<Index>& prices) const {
    Index best = row_[0] - prices[0];
    for (std::size_t rank = 1; rank < row_.size(); ++rank) best = std::max(best, row_[rank] - prices[rank]);
    std::size_t rank = 0;
    while (row_[rank] - prices[rank] != best) ++rank;
    return static_cast<int>(rank);
  }

  // The largest positive saving - price, in a heap with the least on top. Of equal ones those from the role's own rank
  // on, so that roles that don't care bring different ranks.
  void find_best_gains(Index role, const std::vector<Index>& prices) {
    best_gains_.clear();
    least_gain_ = 0;
    for (std::size_t rank = at(role); rank < row_.size(); ++rank) offer(row_[rank] - prices[rank], rank);
    for (std::size_t rank = 0; rank < at(role); ++rank) offer(row_[rank] - prices[rank], rank);
  }

  void offer(Index gain, std::size_t rank) {
    if (gain <= least_gain_) return;
    best_gains_.emplace_back(gain, static_cast<int>(rank));
    std::ranges::push_heap(best_gains_, std::greater<>());
    if (best_gains_.size() <= at(joining_at_once)) return;
    std::ranges::pop_heap(best_gains_, std::greater<>());
    best_gains_.pop_back();
    least_gain_ = best_gains_.front().first;
  }

  Index n_;
  const SavingsOfRole& savings_of_;
  SparseSavings savings_;  // reduced, made of entries_; checks n
  std::vector<Saving> entries_;
  std::vector<Index> of_role_;
  std::vector<Index> of_rank_;
  std::vector<Index> row_;
  std::vector<int> joining_;
  std::vector<std::pair<Index, int>> best_gains_;
  Index least_gain_ = 0;
};

}  // namespace

std::vector<int> assign_by_core(Index n, const SavingsOfRole& savings_of) { return Core(n, savings_of).solve(); }

}  // namespace plait::graph
