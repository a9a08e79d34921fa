#include "plait/redistribute/pieces.hpp"

#include <algorithm>
#include <cmath>

#include "plait/base/contract.hpp"

namespace plait::redistribute {

namespace {

// Less than this makes the stores of a transposition, or the runs of a copy, too short.
constexpr Index least_width = 64;

// The height of a piece: a whole column where columns are copied, but as high as wide where they become rows.
Index preferred_height(Index minor, Index most, bool turned) {
  if (!turned) return minor;
  const auto side = static_cast<Index>(std::sqrt(static_cast<double>(most)));
  return std::min(minor, side < least_width ? std::max(Index{1}, side) : side / least_width * least_width);
}

// Calls f(piece, without offset) for pieces of at most `most` elements, in the same order on all ranks.
template <class F>
void cut_panel(const Panel& panel, const Cut& how, Index most, F f) {
  const bool by_columns = how.packed == StorageOrder::column_major;
  const Index minor = by_columns ? panel.rows->length : panel.columns->length;
  const Index major = by_columns ? panel.columns->length : panel.rows->length;
  Index minor_step = preferred_height(minor, most, how.turned);
  Index major_step = std::max(Index{1}, most / minor_step);
  if (major_step < std::min(least_width, major)) {
    major_step = std::min({least_width, major, most});
    minor_step = std::max(Index{1}, most / major_step);
    if (minor_step > least_width) minor_step = minor_step / least_width * least_width;
  }
  for (Index j = 0; j < major; j += major_step) {
    for (Index i = 0; i < minor; i += minor_step) {
      const Index height = std::min(minor_step, minor - i);
      const Index width = std::min(major_step, major - j);
      f(by_columns ? Piece{&panel, i, height, j, width} : Piece{&panel, j, width, i, height});
    }
  }
}

}  // namespace

std::vector<Chunk> cut(const Package& package, const Cut& how) {
  PLAIT_ASSERT(how.chunk_elements >= 1 && how.piece_elements >= 1, "a message carries something");
  const Index most = std::min(how.chunk_elements, how.piece_elements);
  std::vector<Chunk> chunks;
  Index step_elements = 0;
  for (const Panel& panel : package.panels) {
    cut_panel(panel, how, most, [&](Piece piece) {
      const Index elements = piece.rows * piece.columns;
      if (chunks.empty() || chunks.back().elements + elements > how.chunk_elements) {
        chunks.emplace_back();
        step_elements = 0;
      }
      Chunk& chunk = chunks.back();
      if (chunk.step_ends.empty() || step_elements + elements > how.piece_elements) {
        chunk.step_ends.push_back(0);
        step_elements = 0;
      }
      piece.offset = chunk.elements;
      chunk.pieces.push_back(piece);
      chunk.step_ends.back() = chunk.pieces.size();
      chunk.elements += elements;
      step_elements += elements;
    });
  }
  return chunks;
}

}  // namespace plait::redistribute
