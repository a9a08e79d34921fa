#include "plait/graph/assignment/sparse_savings.hpp"

#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/graph/assignment/permutation.hpp"

namespace plait::graph {

namespace {

void check_size(Index n) {
  if (n < 0 || n > std::numeric_limits<int>::max()) {
    throw ArgumentError(fmt::format("n = {}, expected a number of ranks", n));
  }
}

void check_entry(const Saving& entry, Index n) {
  if (entry.role < 0 || entry.role >= n || entry.rank < 0 || entry.rank >= n) {
    throw ArgumentError(
        fmt::format("a saving of role {} on rank {}, expected both in [0, {})", entry.role, entry.rank, n));
  }
  if (entry.saving < 0 || entry.saving > most_savings) {
    throw ArgumentError(
        fmt::format("role {} on rank {} saves {}, expected 0 to 2^62", entry.role, entry.rank, entry.saving));
  }
}

/// Entries of one role, sorted by rank, each rank once; returns how many are left.
std::size_t merge(std::span<std::pair<int, Index>> row, Index role) {
  std::ranges::sort(row);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < row.size();) {
    std::pair<int, Index> sum{row[k].first, 0};
    for (; k < row.size() && row[k].first == sum.first; ++k) {
      if (row[k].second > most_savings - sum.second) {
        throw ArgumentError(fmt::format("savings of role {} on rank {} add up to more than 2^62", role, sum.first));
      }
      sum.second += row[k].second;
    }
    if (sum.second > 0) row[kept++] = sum;
  }
  return kept;
}

}  // namespace

SparseSavings SparseSavings::from_entries(Index n, std::span<const Saving> entries) {
  check_size(n);
  std::vector<Index> offsets(at(n) + 1);
  for (const Saving& entry : entries) {
    check_entry(entry, n);
    ++offsets[at(entry.role) + 1];
  }
  for (Index role = 0; role < n; ++role) offsets[at(role) + 1] += offsets[at(role)];

  std::vector<int> ranks(entries.size());
  std::vector<Index> savings(entries.size());
  std::vector<Index> next(offsets.begin(), offsets.end() - 1);
  for (const Saving& entry : entries) {
    const auto place = at(next[at(entry.role)]++);
    ranks[place] = entry.rank;
    savings[place] = entry.saving;
  }

  std::vector<std::pair<int, Index>> row;
  std::size_t end = 0;
  for (Index role = 0; role < n; ++role) {
    const auto first = at(offsets[at(role)]);
    row.resize(at(next[at(role)]) - first);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = {ranks[first + k], savings[first + k]};
    const std::size_t kept = merge(row, role);
    offsets[at(role)] = static_cast<Index>(end);
    for (std::size_t k = 0; k < kept; ++k, ++end) std::tie(ranks[end], savings[end]) = row[k];
  }
  offsets.back() = static_cast<Index>(end);
  ranks.resize(end);
  savings.resize(end);
  return from_rows(std::move(offsets), std::move(ranks), std::move(savings));
}

SparseSavings SparseSavings::from_rows(std::vector<Index> offsets, std::vector<int> ranks, std::vector<Index> savings) {
  const auto entries = static_cast<Index>(ranks.size());
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != entries || !std::ranges::is_sorted(offsets) ||
      savings.size() != ranks.size()) {
    throw ArgumentError(
        fmt::format("{} ranks and {} savings with {} offsets, expected offsets that increase from 0 to "
                    "the number of ranks, and as many savings",
                    ranks.size(), savings.size(), offsets.size()));
  }
  SparseSavings made;
  made.offsets_ = std::move(offsets);
  made.ranks_ = std::move(ranks);
  made.savings_ = std::move(savings);
  const Index n = made.size();
  check_size(n);
  Index sum = 0;
  for (Index role = 0; role < n; ++role) {
    int before = -1;
    Index best = 0;
    for (std::size_t k = 0; k < made.ranks(role).size(); ++k) {
      const Saving entry{static_cast<int>(role), made.ranks(role)[k], made.savings(role)[k]};
      check_entry(entry, n);
      if (entry.rank <= before || entry.saving == 0) {
        throw ArgumentError(
            fmt::format("role {} has rank {} after rank {} and saves {} there, expected ranks that "
                        "increase and savings > 0",
                        role, entry.rank, before, entry.saving));
      }
      before = entry.rank;
      best = std::max(best, entry.saving);
    }
    if (best > most_savings - sum) {
      throw ArgumentError(fmt::format("the largest savings of roles 0 to {} add up to more than 2^62", role));
    }
    sum += best;
  }
  return made;
}

}  // namespace plait::graph
