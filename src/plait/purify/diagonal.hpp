#pragma once

#include <algorithm>
#include <cstddef>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"

namespace plait::purify {

/// Calls f(tile number, local row, local column, row) for every element of the diagonal that a rank holds, where row
/// counts in the whole matrix. Local; takes no memory.
template <class F>
void for_each_diagonal(const layout::Layout& layout, int rank, F&& f) {
  std::size_t tile = 0;
  for (Index row = 0; row < layout.rows().parts(); ++row) {
    for (Index column = 0; column < layout.columns().parts(); ++column) {
      if (layout.owners().owner(row, column) != rank) continue;
      layout.rows().for_each_segment(row, [&](const layout::Segment& rows) {
        layout.columns().for_each_segment(column, [&](const layout::Segment& columns) {
          const Index begin = std::max(rows.global, columns.global);
          const Index end = std::min(rows.global + rows.length, columns.global + columns.length);
          for (Index i = begin; i < end; ++i) {
            f(tile, rows.local + i - rows.global, columns.local + i - columns.global, i);
          }
        });
      });
      ++tile;
    }
  }
}

}  // namespace plait::purify
