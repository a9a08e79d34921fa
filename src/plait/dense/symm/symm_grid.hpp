#pragma once

#include <limits>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/process_grid.hpp"

namespace plait::dense {

/// The ranks which square and cube a matrix of n × n elements: `layers` of edge × edge, numbered by columns. Rank
/// P(i, j, k) is in row i and column j of layer k; block (i, j) of edge × edge nearly equal ones is on P(i, j, 0),
/// column-major. Further ranks have nothing to do.
class SymmGrid : public layout::ProcessGrid {
 public:
  /// \pre  n >= 0, edge >= 1, layers >= 1, and the number of ranks is an int
  SymmGrid(Index n, int edge, int layers) : ProcessGrid{edge, edge, layers, layout::GridOrder::column}, n_(n) {
    PLAIT_ASSERT(n >= 0 && edge >= 1 && layers >= 1, "a grid has ranks");
    PLAIT_ASSERT(Index{edge} * edge <= std::numeric_limits<int>::max() / layers, "an int can count the ranks");
  }

  /// The largest p with p³ (p² · layers) ranks.
  [[nodiscard]] static int largest_cube(int ranks) noexcept {
    int edge = 1;
    while (Index{edge + 1} * (edge + 1) * (edge + 1) <= ranks) ++edge;
    return edge;
  }
  [[nodiscard]] static int largest_edge(int ranks, int layers) noexcept {
    int edge = 1;
    while (Index{edge + 1} * (edge + 1) * layers <= ranks) ++edge;
    return edge;
  }

  [[nodiscard]] Index n() const noexcept { return n_; }
  [[nodiscard]] int edge() const noexcept { return rows; }

  /// The rows (columns) of the matrix that are in the i-th block row (column), and the elements of a block.
  [[nodiscard]] Index extent(int i) const noexcept { return n_ / edge() + (i < n_ % edge() ? 1 : 0); }
  [[nodiscard]] Index elements(int i, int j) const noexcept { return extent(i) * extent(j); }
  [[nodiscard]] Index most_elements() const noexcept { return elements(0, 0); }

  [[nodiscard]] layout::Layout layout() const {
    return layout::Layout::blocks({n_, n_}, edge(), edge(), order, StorageOrder::column_major);
  }

 private:
  Index n_;
};

}  // namespace plait::dense
