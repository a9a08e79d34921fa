#include "plait/redistribute/relabel/relabel.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/graph/assignment/core.hpp"
#include "plait/graph/assignment/dense.hpp"
#include "plait/graph/assignment/greedy.hpp"
#include "plait/graph/assignment/sparse.hpp"
#include "plait/graph/assignment/sparse_savings.hpp"
#include "plait/layout/text.hpp"
#include "plait/redistribute/relabel/incoming.hpp"

namespace plait::redistribute {

namespace {

using graph::Saving;
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
std::vector<RankSaving> savings_of(Incoming& incoming, int role, int ranks, const PackageCost& cost) {
  std::vector<RankSaving> savings;
  std::vector<int> near;
  for (const auto& [from, package] : incoming.of(role)) {
    const Index far = cost.far(package);
    near.clear();
    cost.append_near(from, near);
    for (const int rank : near) {
      if (rank < ranks) savings.push_back({rank, far - cost.cost(from, rank, package)});
    }
  }
  const auto by_rank = [](const RankSaving& a, const RankSaving& b) { return a.rank < b.rank; };
  if (!std::is_sorted(savings.begin(), savings.end(), by_rank)) std::sort(savings.begin(), savings.end(), by_rank);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < savings.size(); ++i) {
    if (savings[i].saving == 0) continue;
    if (kept > 0 && savings[kept - 1].rank == savings[i].rank) {
      if (__builtin_add_overflow(savings[kept - 1].saving, savings[i].saving, &savings[kept - 1].saving)) {
        throw ArgumentError("the costs of what rank " + std::to_string(role) + " receives, expected at most 2^62");
      }
    } else {
      savings[kept++] = savings[i];
    }
  }
  savings.resize(kept);
  return savings;
}

/// All savings, or nothing if they are too many to store.
std::optional<SparseSavings> stored_savings(Incoming& incoming, int ranks, const PackageCost& cost, Index most) {
  std::vector<Index> offsets{0};
  std::vector<int> rank_list;
  std::vector<Index> saving_list;
  for (int role = 0; role < ranks; ++role) {
    for (const auto& [rank, saving] : savings_of(incoming, role, ranks, cost)) {
      rank_list.push_back(rank);
      saving_list.push_back(saving);
    }
    offsets.push_back(static_cast<Index>(rank_list.size()));
    if (offsets.back() > most) return std::nullopt;
  }
  return SparseSavings::from_rows(std::move(offsets), std::move(rank_list), std::move(saving_list));
}

std::vector<int> assign_few(const SparseSavings& savings) {
  const Index ranks = savings.size();
  std::vector<Index> dense(static_cast<std::size_t>(ranks * ranks), 0);
  for (Index role = 0; role < ranks; ++role) {
    for (std::size_t i = 0; i < savings.ranks(role).size(); ++i) {
      dense[static_cast<std::size_t>(role * ranks + savings.ranks(role)[i])] = savings.savings(role)[i];
    }
  }
  return graph::assign_dense({dense.data(), ranks, ranks, std::max(Index{1}, ranks), StorageOrder::row_major});
}

std::vector<int> assign_by_nearness(Incoming& incoming, int ranks, const PackageCost& cost, AssignmentMethod method) {
  const bool exact = method == AssignmentMethod::exact;
  const auto savings = stored_savings(incoming, ranks, cost, exact ? most_stored_savings : most_cost);
  if (!savings) {
    return graph::assign_by_core(ranks, [&](Index role, std::span<Index> row) {
      std::fill(row.begin(), row.end(), Index{0});
      for (const auto& [rank, saving] : savings_of(incoming, static_cast<int>(role), ranks, cost)) {
        row[static_cast<std::size_t>(rank)] = saving;
      }
    });
  }
  if (!exact) return graph::assign_greedily(*savings);
  return ranks <= most_dense_ranks ? assign_few(*savings) : graph::assign_sparse(*savings);
}

/// What it costs if each rank plays each role, less what it costs at most: for any cost.
std::vector<int> assign_by_all_costs(Incoming& incoming, int ranks, const PackageCost& cost, AssignmentMethod method) {
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
  if (method == AssignmentMethod::exact) {
    return graph::assign_dense(
        {savings.data(), ranks, ranks, std::max(Index{1}, Index{ranks}), StorageOrder::row_major});
  }
  std::vector<Saving> entries;
  for (std::size_t i = 0; i < savings.size(); ++i) {
    if (savings[i] > 0) entries.push_back({static_cast<int>(i / n), static_cast<int>(i % n), savings[i]});
  }
  return graph::assign_greedily(SparseSavings::from_entries(ranks, entries));
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

Relabeling relabel(std::span<const SizedPair> pairs, int ranks, const PackageCost& cost, AssignmentMethod method) {
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

  std::vector<int> rank_of = cost.tells_near_from_far() ? assign_by_nearness(incoming, ranks, cost, method)
                                                        : assign_by_all_costs(incoming, ranks, cost, method);
  const Index after = cost_of(incoming, rank_of, cost);
  if (after >= before) return {std::move(own), before, before};
  return {std::move(rank_of), before, after};
}

}  // namespace plait::redistribute
