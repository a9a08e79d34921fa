#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/sparse/matrix.hpp"

#include "support/random.hpp"
#include "support/ranks.hpp"

namespace plait::test {

/// All of a matrix, on each rank; an entry that is not there differs from one that is 0.
template <class T>
struct Whole {
  Index rows, columns;
  std::vector<std::optional<T>> entries = std::vector<std::optional<T>>(at(rows * columns));

  [[nodiscard]] std::optional<T>& entry(Index row, Index column) { return entries[at(row * columns + column)]; }
  [[nodiscard]] const std::optional<T>& entry(Index row, Index column) const {
    return entries[at(row * columns + column)];
  }
  [[nodiscard]] sparse::Rows<T> rows_of(const std::vector<Index>& ranges) const {
    sparse::Rows<T> result;
    for (Index row = ranges[at(Index{rank()})]; row < ranges[at(Index{rank()} + 1)]; ++row) {
      for (Index column = 0; column < columns; ++column) {
        if (!entry(row, column)) continue;
        result.columns.push_back(column);
        result.values.push_back(*entry(row, column));
      }
      result.offsets.push_back(std::ssize(result.columns));
    }
    return result;
  }
};

/// About so many entries a row.
template <class T>
Whole<T> random_matrix(Random& random, Index rows, Index columns, Index a_row) {
  Whole<T> result{rows, columns};
  for (auto& entry : result.entries) {
    if (random(1, columns) > a_row) continue;
    entry = static_cast<T>(random(0, 20) == 0 ? 0 : random.real() - .5);
  }
  return result;
}

/// Ranges of a test's ranks, some of which may be empty.
inline std::vector<Index> random_ranges(Random& random, Index total) {
  std::vector<Index> ranges{0, total};
  while (std::ssize(ranges) <= ranks()) ranges.push_back(random(0, total));
  std::ranges::sort(ranges);
  return ranges;
}

template <class V>
std::vector<V> own_part(const std::vector<V>& whole, const std::vector<Index>& ranges) {
  return {whole.begin() + ranges[at(Index{rank()})], whole.begin() + ranges[at(Index{rank()} + 1)]};
}

}  // namespace plait::test
