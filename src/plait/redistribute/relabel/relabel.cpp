#include "plait/redistribute/relabel/relabel.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/graph/assignment/assignment.hpp"
#include "plait/graph/assignment/sparse_savings.hpp"
#include "plait/layout/text.hpp"
#include "plait/redistribute/relabel/incoming.hpp"

namespace plait::redistribute {

namespace {

using graph::SparseSavings;

constexpr int most_dense_ranks = 1024;
constexpr Index most_stored_savings = Index{1} << 25;  // 400 MB
constexpr Index most_cost = Index{1} << 62;

/// A rank and what is saved if it plays the role that is asked about, compared with a rank that is far from all.
struct RankSaving {
  int rank;
  Index saving;
};

/// δ(x, y) of the paper up to a constant of x: for costs that know near ranks.
///
/// \param sums  room for one of each rank, all 0 before and after
std::vector<RankSaving> savings_of(Incoming& incoming, int role, const PackageCost& cost, std::vector<Index>& sums) {
  std::vector<int> touched;
  std::vector<int> near;
  for (const auto& [from, package] : incoming.of(role)) {
    const Index far = cost.far(package);
    near.clear();
    cost.append_near(from, near);
    for (const int rank : near) {
      if (at(rank) >= sums.size()) continue;
      Index& sum = sums[at(rank)];
      if (sum == 0) touched.push_back(rank);
      if (__builtin_add_overflow(sum, far - cost.cost(from, rank, package), &sum)) {
        throw ArgumentError("the costs of what rank " + std::to_string(role) + " receives, expected at most 2^62");
      }
    }
  }
  std::vector<RankSaving> savings;
  const auto take = [&](int rank) {  // once, if it was touched again when its sum was 0 still
    if (const Index sum = std::exchange(sums[at(rank)], 0); sum != 0) savings.push_back({rank, sum});
  };
  if (touched.size() > sums.size() / 8) {
    for (int rank = 0; at(rank) < sums.size(); ++rank) take(rank);
  } else {
    std::ranges::sort(touched);
    std::ranges::for_each(touched, take);
  }
  return savings;
}

/// All savings, or nothing if they are too many to store.
std::optional<SparseSavings> stored_savings(Incoming& incoming, int ranks, const PackageCost& cost) {
  std::vector<Index> offsets{0};
  std::vector<int> rank_list;
  std::vector<Index> saving_list;
  std::vector<Index> sums(at(ranks), 0);
  for (int role = 0; role < ranks; ++role) {
    for (const auto& [rank, saving] : savings_of(incoming, role, cost, sums)) {
      rank_list.push_back(rank);
      saving_list.push_back(saving);
    }
    offsets.push_back(static_cast<Index>(rank_list.size()));
    if (offsets.back() > most_stored_savings) return std::nullopt;
  }
  return SparseSavings::from_rows(std::move(offsets), std::move(rank_list), std::move(saving_list));
}

std::vector<int> assign_whole(const SparseSavings& savings) {
  const Index ranks = savings.size();
  std::vector<Index> dense(static_cast<std::size_t>(ranks * ranks), 0);
  for (Index role = 0; role < ranks; ++role) {
    for (std::size_t i = 0; i < savings.ranks(role).size(); ++i) {
      dense[static_cast<std::size_t>(role * ranks + savings.ranks(role)[i])] = savings.savings(role)[i];
    }
  }
  return graph::assign_dense({dense.data(), ranks, ranks, std::max(Index{1}, ranks), StorageOrder::row_major});
}

std::vector<int> assign_by_nearness(Incoming& incoming, int ranks, const PackageCost& cost) {
  const auto savings = stored_savings(incoming, ranks, cost);
  if (!savings) {
    return graph::assign_by_core(
        ranks, [&, sums = std::vector<Index>(at(ranks), 0)](Index role, std::span<Index> row) mutable {
          std::ranges::fill(row, 0);
          for (const auto& [rank, saving] : savings_of(incoming, static_cast<int>(role), cost, sums)) {
            row[at(rank)] = saving;
          }
        });
  }
  const bool is_dense = savings->entries() >= Index{ranks} * ranks / 2;
  return ranks <= most_dense_ranks || is_dense ? assign_whole(*savings) : graph::assign_sparse(*savings);
}

/// What it costs if each rank plays each role, less what it costs at most: for any cost.
std::vector<int> assign_by_all_costs(Incoming& incoming, int ranks, const PackageCost& cost) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<Index> savings(n * n, 0);
  for (int role = 0; role < ranks; ++role) {
    const auto senders = incoming.of(role);
    const auto row = std::span(savings).subspan(static_cast<std::size_t>(role) * n, n);
    for (int rank = 0; rank < ranks; ++rank) {
      Index sum = 0;
      for (const auto& [from, package] : senders) {
        if (__builtin_add_overflow(sum, cost.cost(from, rank, package), &sum) || sum > most_cost) {
          throw ArgumentError("the costs of what rank " + std::to_string(role) + " receives, expected at most 2^62");
        }
      }
      row[static_cast<std::size_t>(rank)] = sum;
    }
    const Index highest = row.empty() ? 0 : *std::max_element(row.begin(), row.end());
    for (Index& each : row) each = highest - each;
  }
  return graph::assign_dense({savings.data(), ranks, ranks, std::max(Index{1}, Index{ranks}), StorageOrder::row_major});
}

Index cost_of(Incoming& incoming, std::span<const int> rank_of, const PackageCost& cost) {
  Index sum = 0;
  for (int role = 0; role < incoming.ranks(); ++role) {
    for (const auto& [from, package] : incoming.of(role)) {
      if (__builtin_add_overflow(sum, cost.cost(from, rank_of[static_cast<std::size_t>(role)], package), &sum) ||
          sum > most_cost) {
        throw ArgumentError("the costs of all packages, expected at most 2^62");
      }
    }
  }
  return sum;
}

}  // namespace

Relabeling relabel(std::span<const SizedPair> pairs, int ranks, const PackageCost& cost) {
  for (const SizedPair& sized : pairs) {
    for (const auto& [which, layout] : {std::pair("from", &sized.pair.from), std::pair("to", &sized.pair.to)}) {
      if (layout->ranks() <= ranks) continue;
      throw LayoutError(std::string(which) + ": " + layout::describe(*layout) + " needs " +
                        std::to_string(layout->ranks()) + " ranks, there are " + std::to_string(ranks));
    }
  }
  Incoming incoming(pairs, cost.looks_at_tiles());
  std::vector<int> own(static_cast<std::size_t>(std::max(0, ranks)));
  std::iota(own.begin(), own.end(), 0);
  const Index before = cost_of(incoming, own, cost);
  if (before == 0) return {std::move(own), 0, 0};

  std::vector<int> rank_of = cost.tells_near_from_far() ? assign_by_nearness(incoming, ranks, cost)
                                                        : assign_by_all_costs(incoming, ranks, cost);
  const Index after = cost_of(incoming, rank_of, cost);
  if (after >= before) return {std::move(own), before, before};
  return {std::move(rank_of), before, after};
}

}  // namespace plait::redistribute
