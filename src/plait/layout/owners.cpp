#include "plait/layout/owners.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::layout {

namespace {

/// The number of positions, checked.
///
/// \throws LayoutError  if a side is not positive or there are more positions than an Index can count
Index positions_of(Index rows, Index columns) {
  Index positions = 0;
  if (rows < 1 || columns < 1 || __builtin_mul_overflow(rows, columns, &positions)) {
    throw LayoutError(fmt::format("the owners fill {} x {} positions, expected at least 1 x 1 and at most 2^63 in all",
                                  rows, columns));
  }
  return positions;
}

/// The order in which this table numbers its positions one after the other, if it does.
std::optional<GridOrder> grid_order_of(const std::vector<int>& ranks, Index rows, Index columns) {
  if (rows * columns > std::numeric_limits<int>::max()) return std::nullopt;
  const ProcessGrid by_rows{.rows = static_cast<int>(rows), .columns = static_cast<int>(columns)};
  for (const GridOrder order : {GridOrder::row, GridOrder::column}) {
    ProcessGrid grid = by_rows;
    grid.order = order;
    bool numbered = true;
    for (int i = 0; i < grid.ranks() && numbered; ++i) {
      numbered = Index{ranks[static_cast<std::size_t>(i)]} - ranks.front() == grid.rank(by_rows.place(i));
    }
    if (numbered) return order;
  }
  return std::nullopt;
}

}  // namespace

Owners::Owners(Index rows, Index columns, GridOrder order, int first_rank, std::shared_ptr<const Table> table)
    : rows_(rows),
      columns_(columns),
      order_(rows == 1 || columns == 1 ? GridOrder::row : order),
      first_rank_(first_rank),
      table_(std::move(table)) {}

Owners Owners::grid(Index rows, Index columns, GridOrder order, int first_rank) {
  const Index positions = positions_of(rows, columns);
  if (first_rank < 0) throw LayoutError(fmt::format("the first rank is {}, expected at least 0", first_rank));
  if (positions > std::numeric_limits<int>::max() - Index{first_rank}) {
    throw LayoutError(fmt::format("a {} x {} process grid from rank {} on has more ranks than there can be (2^31 - 1)",
                                  rows, columns, first_rank));
  }
  return {rows, columns, order, first_rank, nullptr};
}

Owners Owners::listed(Index rows, Index columns, std::vector<int> ranks) {
  const Index positions = positions_of(rows, columns);
  if (static_cast<Index>(ranks.size()) != positions) {
    throw LayoutError(
        fmt::format("{} ranks are listed for {} x {} positions, expected {}", ranks.size(), rows, columns, positions));
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] == std::numeric_limits<int>::max()) {
      throw LayoutError(
          fmt::format("the rank listed for position ({}, {}) is {}, expected at least 0 and below 2^31 - 1",
                      static_cast<Index>(i) / columns, static_cast<Index>(i) % columns, ranks[i]));
    }
  }
  if (const auto order = grid_order_of(ranks, rows, columns)) return grid(rows, columns, *order, ranks.front());

  Table table;
  table.positions.resize(ranks.size());
  std::iota(table.positions.begin(), table.positions.end(), Index{0});
  const auto rank_of = [&ranks](Index position) { return ranks[static_cast<std::size_t>(position)]; };
  std::ranges::sort(table.positions,
                    [&](Index a, Index b) { return rank_of(a) != rank_of(b) ? rank_of(a) < rank_of(b) : a < b; });
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i == 0 || rank_of(table.positions[i]) != rank_of(table.positions[i - 1])) ++table.distinct;
  }
  table.ranks = std::move(ranks);
  return {rows, columns, GridOrder::row, 0, std::make_shared<const Table>(std::move(table))};
}

int Owners::owner(Index row, Index column) const {
  if (row < 0 || row >= rows_ || column < 0 || column >= columns_) {
    throw ArgumentError(fmt::format("the position is ({}, {}), expected one of {} x {}", row, column, rows_, columns_));
  }
  if (table_) return table_->ranks[static_cast<std::size_t>(row * columns_ + column)];
  return first_rank_ + process_grid().rank(static_cast<int>(row), static_cast<int>(column));
}

int Owners::ranks() const noexcept {
  if (table_) return table_->ranks[static_cast<std::size_t>(table_->positions.back())] + 1;
  return first_rank_ + static_cast<int>(rows_ * columns_);
}

Index Owners::distinct() const noexcept { return table_ ? table_->distinct : rows_ * columns_; }

std::vector<TilePosition> Owners::owned_by(int rank) const {
  if (!table_) {
    if (rank < first_rank_ || !process_grid().contains(rank - first_rank_)) return {};
    const GridPlace place = process_grid().place(rank - first_rank_);
    return {{place.row, place.column}};
  }
  const auto rank_of = [this](Index position) { return table_->ranks[static_cast<std::size_t>(position)]; };
  const auto& positions = table_->positions;
  const auto first = std::ranges::lower_bound(positions, rank, {}, rank_of);
  const auto last = std::ranges::upper_bound(positions, rank, {}, rank_of);
  std::vector<TilePosition> result;
  result.reserve(static_cast<std::size_t>(last - first));
  for (auto at = first; at != last; ++at) result.push_back({*at / columns_, *at % columns_});
  return result;
}

Owners Owners::transposed() const {
  if (!table_) {
    return {columns_, rows_, order_ == GridOrder::row ? GridOrder::column : GridOrder::row, first_rank_, nullptr};
  }
  std::vector<int> ranks;
  ranks.reserve(table_->ranks.size());
  for (Index column = 0; column < columns_; ++column) {
    for (Index row = 0; row < rows_; ++row) ranks.push_back(owner(row, column));
  }
  return listed(columns_, rows_, std::move(ranks));
}

Owners Owners::relabeled(std::span<const int> ranks) const {
  if (Index{this->ranks()} > static_cast<Index>(ranks.size())) {
    throw LayoutError(
        fmt::format("new ranks are given for {} ranks, expected one for each of {}", ranks.size(), this->ranks()));
  }
  std::vector<int> owners;
  owners.reserve(static_cast<std::size_t>(rows_ * columns_));
  for (Index row = 0; row < rows_; ++row) {
    for (Index column = 0; column < columns_; ++column) {
      owners.push_back(ranks[static_cast<std::size_t>(owner(row, column))]);
    }
  }
  return listed(rows_, columns_, std::move(owners));
}

bool operator==(const Owners& a, const Owners& b) {
  // A table that could be a grid never stays a table, so forms that differ own differently.
  if (a.rows_ != b.rows_ || a.columns_ != b.columns_ || a.is_grid() != b.is_grid()) return false;
  if (a.is_grid()) return a.order_ == b.order_ && a.first_rank_ == b.first_rank_;
  return a.table_ == b.table_ || a.table_->ranks == b.table_->ranks;
}

}  // namespace plait::layout
