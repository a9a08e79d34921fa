#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"

namespace plait::purify {

/// Calls f(tile number, local row, local column, row) for every element of the diagonal that a rank holds, where row
/// counts in the whole matrix. Local.
template <class F>
void for_each_diagonal(const layout::Layout& layout, int rank, F&& f) {
  const auto tiles = layout.tiles_of(rank);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    std::vector<layout::Segment> columns;
    layout.columns().for_each_segment(tiles[t].position.column,
                                      [&](const layout::Segment& segment) { columns.push_back(segment); });
    std::size_t first = 0;  // segments increase in both lists
    layout.rows().for_each_segment(tiles[t].position.row, [&](const layout::Segment& rows) {
      while (first < columns.size() && columns[first].global + columns[first].length <= rows.global) ++first;
      for (std::size_t c = first; c < columns.size() && columns[c].global < rows.global + rows.length; ++c) {
        const Index begin = std::max(rows.global, columns[c].global);
        const Index end = std::min(rows.global + rows.length, columns[c].global + columns[c].length);
        for (Index i = begin; i < end; ++i) {
          f(t, rows.local + i - rows.global, columns[c].local + i - columns[c].global, i);
        }
      }
    });
  }
}

}  // namespace plait::purify
