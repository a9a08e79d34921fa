#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "support/ranks.hpp"
#include "tests/mpi/scalapack/scalapack.hpp"

namespace plait::test {

/// A BLACS grid of any ranks of the tests' communicator; collective over all of it, also for those that stay outside.
class ProcessGrid {
 public:
  /// \param ranks  row by row
  ProcessGrid(int rows, int columns, const std::vector<int>& ranks) : rows_(rows), columns_(columns) {
    std::vector<int> map;  // column-major
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) map.push_back(ranks[static_cast<std::size_t>(i * columns + j)]);
    }
    context_ = Csys2blacs_handle(test_comm());
    Cblacs_gridmap(&context_, map.data(), rows, rows, columns);
    name_ = std::to_string(rows) + "x" + std::to_string(columns) + " of";
    for (const int rank : ranks) name_ += " " + std::to_string(rank);
    if (!member()) context_ = -1;
    int dummy = 0;
    Cblacs_gridinfo(context_, &dummy, &dummy, &row_, &column_);
  }
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;
  ~ProcessGrid() {
    if (context_ >= 0) Cblacs_gridexit(context_);
  }

  /// -1 outside.
  [[nodiscard]] int context() const { return context_; }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int row() const { return row_; }
  [[nodiscard]] int column() const { return column_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool inside() const { return context_ >= 0; }

 private:
  [[nodiscard]] bool member() const {
    int rows = -1;
    int columns = -1;
    int row = -1;
    int column = -1;
    Cblacs_gridinfo(context_, &rows, &columns, &row, &column);
    return row >= 0 && column >= 0;
  }

  int rows_;
  int columns_;
  int context_ = -1;
  int row_ = -1;
  int column_ = -1;
  std::string name_;
};

/// Row by row, the ranks of a grid that BLACS would fill in row ('R') or column ('C') order.
inline std::vector<int> ordered(int rows, int columns, char order) {
  std::vector<int> ranks;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) ranks.push_back(order == 'R' ? i * columns + j : i + j * rows);
  }
  return ranks;
}

}  // namespace plait::test
