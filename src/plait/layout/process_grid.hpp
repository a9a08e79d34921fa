#pragma once

#include <cstddef>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::layout {

/// How the ranks of a process grid are numbered: along its rows, or down its columns (BLACS 'R' and 'C').
enum class GridOrder : unsigned char { row, column };

/// A place in a process grid.
struct GridPlace {
  int row = 0;
  int column = 0;
  int layer = 0;
  friend bool operator==(const GridPlace&, const GridPlace&) = default;
};

/// Ranks in rows and columns: in one layer, or in several of these, numbered one after the other. Numbers from 0 on, in
/// a communicator or among those who take part; those from ranks() on have no place.
///
/// \pre  of all functions: rows, columns, layers >= 1, and ranks() is an int
struct ProcessGrid {
  int rows = 1;
  int columns = 1;
  int layers = 1;
  GridOrder order = GridOrder::row;

  [[nodiscard]] constexpr Index ranks() const noexcept { return Index{rows} * columns * layers; }
  [[nodiscard]] constexpr bool contains(int rank) const noexcept { return rank >= 0 && rank < ranks(); }

  /// \pre  contains(rank)
  [[nodiscard]] constexpr GridPlace place(int rank) const noexcept {
    const int line = order == GridOrder::row ? columns : rows;
    const int lines = order == GridOrder::row ? rows : columns;
    const int along = rank % line, across = rank / line % lines, layer = rank / line / lines;
    return order == GridOrder::row ? GridPlace{across, along, layer} : GridPlace{along, across, layer};
  }
  [[nodiscard]] constexpr int row_of(int rank) const noexcept { return place(rank).row; }
  [[nodiscard]] constexpr int column_of(int rank) const noexcept { return place(rank).column; }

  [[nodiscard]] constexpr int rank(const GridPlace& at) const noexcept {
    return order == GridOrder::row ? (at.layer * rows + at.row) * columns + at.column
                                   : (at.layer * columns + at.column) * rows + at.row;
  }
  [[nodiscard]] constexpr int rank(int row, int column, int layer = 0) const noexcept {
    return rank(GridPlace{row, column, layer});
  }

  /// The ranks of one row (column) of a layer, and those at one place of all layers, in order: the literature's row,
  /// column and grid communicators.
  [[nodiscard]] std::vector<int> ranks_of_row(int row, int layer = 0) const {
    return line(columns, {row, 0, layer}, {0, 1, 0});
  }
  [[nodiscard]] std::vector<int> ranks_of_column(int column, int layer = 0) const {
    return line(rows, {0, column, layer}, {1, 0, 0});
  }
  [[nodiscard]] std::vector<int> ranks_of_layers(int row, int column) const {
    return line(layers, {row, column, 0}, {0, 0, 1});
  }

  friend bool operator==(const ProcessGrid&, const ProcessGrid&) = default;

 private:
  [[nodiscard]] std::vector<int> line(int count, const GridPlace& first, const GridPlace& step) const {
    std::vector<int> result;
    result.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) result.push_back(rank(first) + i * rank(step));
    return result;
  }
};

}  // namespace plait::layout
