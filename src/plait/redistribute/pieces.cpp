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
void cut_panel(const Panel& panel, const PackageToCut& how, Index most, F f) {
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
      f(by_columns ? Piece{how.matrix, &panel, i, height, j, width} : Piece{how.matrix, &panel, j, width, i, height});
    }
  }
}

}  // namespace

std::vector<Chunk> cut(std::span<const PackageToCut> packages, CutLimits limits) {
  std::vector<Chunk> chunks;
  Index bytes_of_step = 0;
  const auto add = [&](Piece piece, Index element_bytes) {
    const Index bytes = piece.rows * piece.columns * element_bytes;
    const auto aligned = [&](Index end) { return (end + element_bytes - 1) / element_bytes * element_bytes; };
    if (chunks.empty() || aligned(chunks.back().bytes) + bytes > limits.chunk_bytes) {
      chunks.emplace_back();
      bytes_of_step = 0;
    }
    Chunk& chunk = chunks.back();
    if (chunk.step_ends.empty() || bytes_of_step + bytes > limits.step_bytes) {
      chunk.step_ends.push_back(0);
      bytes_of_step = 0;
    }
    piece.offset = aligned(chunk.bytes);
    chunk.pieces.push_back(piece);
    chunk.step_ends.back() = chunk.pieces.size();
    chunk.bytes = piece.offset + bytes;
    bytes_of_step += bytes;
  };
  for (const PackageToCut& how : packages) {
    const Index most = std::min(limits.chunk_bytes, limits.step_bytes) / how.element_bytes;
    PLAIT_ASSERT(most >= 1, "a message carries something");
    for (const Panel& panel : how.package->panels) {
      cut_panel(panel, how, most, [&](const Piece& piece) { add(piece, how.element_bytes); });
    }
  }
  return chunks;
}

}  // namespace plait::redistribute
