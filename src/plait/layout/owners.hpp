#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/process_grid.hpp"

namespace plait::layout {

/// A place in the product of the two axes of a layout: which part of the rows and which part of the columns.
struct TilePosition {
  Index row = 0;
  Index column = 0;
  friend auto operator<=>(const TilePosition&, const TilePosition&) = default;
};

/// The rank that owns each of rows × columns positions. Cheap to copy: a process grid is a formula, any other table is
/// shared between copies.
///
/// A rank is a number in the communicator of the matrix, never BLACS's own process number.
class Owners {
 public:
  /// Ranks first_rank, first_rank + 1... in the given order, one for each position.
  ///
  /// \pre  rows >= 1, columns >= 1, first_rank >= 0, and the last rank is an int
  /// \throws LayoutError  naming the number that can't be
  [[nodiscard]] static Owners grid(Index rows, Index columns, GridOrder order = GridOrder::row, int first_rank = 0);

  /// Any ranks, in any order, some of them several times: `ranks[row * columns + column]`. A table that numbers the
  /// positions as `grid` does becomes that formula.
  ///
  /// \pre  rows >= 1, columns >= 1, ranks.size() == rows * columns, ranks[i] >= 0
  /// \throws LayoutError  naming the entry that can't be
  [[nodiscard]] static Owners listed(Index rows, Index columns, std::vector<int> ranks);

  [[nodiscard]] Index rows() const noexcept { return rows_; }
  [[nodiscard]] Index columns() const noexcept { return columns_; }

  /// \throws ArgumentError  if there is no such position
  [[nodiscard]] int owner(Index row, Index column) const;
  [[nodiscard]] int owner(TilePosition position) const { return owner(position.row, position.column); }

  /// One more than the highest rank that owns anything: the least size of a communicator that the layout fits on.
  [[nodiscard]] int ranks() const noexcept;

  /// How many ranks own something.
  [[nodiscard]] Index distinct() const noexcept;

  /// The positions of a rank in increasing (row, column); none for a rank that owns nothing or does not exist.
  /// O(1) for a grid, O(log positions + positions of the rank) for a table.
  [[nodiscard]] std::vector<TilePosition> owned_by(int rank) const;

  /// Position (row, column) of the result belongs to the owner of (column, row).
  [[nodiscard]] Owners transposed() const;

  /// What belonged to rank r belongs to `ranks[r]`: the process relabeling of COSTA.
  ///
  /// \pre  ranks.size() >= this->ranks(); ranks[i] >= 0
  /// \throws LayoutError  naming the rank that has no new one
  [[nodiscard]] Owners relabeled(std::span<const int> ranks) const;

  /// Whether this is a process grid: ranks numbered one after the other, each once.
  [[nodiscard]] bool is_grid() const noexcept { return !table_; }

  /// \pre  is_grid()
  [[nodiscard]] ProcessGrid process_grid() const noexcept {
    return {.rows = static_cast<int>(rows_), .columns = static_cast<int>(columns_), .order = order_};
  }
  /// Of a process grid: how it is numbered (by rows if both are the same) and where it begins.
  [[nodiscard]] GridOrder order() const noexcept { return order_; }
  [[nodiscard]] int first_rank() const noexcept { return first_rank_; }

  /// Every position has the same owner.
  friend bool operator==(const Owners& a, const Owners& b);

 private:
  struct Table {
    std::vector<int> ranks;        // row-major over positions
    std::vector<Index> positions;  // row * columns + column, sorted by owner, then by themselves
    Index distinct = 0;
  };

  Owners(Index rows, Index columns, GridOrder order, int first_rank, std::shared_ptr<const Table> table);

  Index rows_;
  Index columns_;
  GridOrder order_;
  int first_rank_;
  std::shared_ptr<const Table> table_;
};

}  // namespace plait::layout
