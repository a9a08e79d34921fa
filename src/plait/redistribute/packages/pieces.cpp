#include "plait/redistribute/packages/pieces.hpp"

#include <algorithm>

#include "plait/base/contract.hpp"
#include "plait/base/rounding.hpp"
#include "plait/simd/cache_lines.hpp"

namespace plait::redistribute {

namespace {

Index elements_of_line(Index element_bytes) { return std::max(Index{1}, simd::line_bytes / element_bytes); }

// The height of a piece: memory is read, and copied, best along long columns. Where they become rows of the target, as
// much of a column as leaves these rows wide enough for transposition; all pieces about as high.
Index preferred_height(Index minor, Index most, const PackageToCut& how) {
  if (!how.turned) return std::min(minor, most);
  const Index least_width = std::max(Index{32}, 512 / how.element_bytes);
  const Index highest = std::max(Index{1}, most / least_width);
  if (minor <= highest) return minor;
  const Index line = elements_of_line(how.element_bytes);
  Index height = rounded_up(quotient_up(minor, quotient_up(minor, highest)), line);
  if (simd::columns_collide(height * how.element_bytes)) height += line;
  return std::min(height, most);
}

// Whole cache lines of the target, where columns become its rows.
Index preferred_width(Index height, Index most, const PackageToCut& how) {
  const Index width = most / height;
  const Index line = elements_of_line(how.element_bytes);
  return how.turned && width > line ? width / line * line : width;
}

// Calls f(piece, without offset) for pieces of at most `most` elements, in the same order on all ranks.
template <class F>
void cut_panel(const Panel& panel, const PackageToCut& how, Index most, F f) {
  const bool by_columns = how.packed == StorageOrder::column_major;
  const Index minor = by_columns ? panel.rows->length : panel.columns->length;
  const Index major = by_columns ? panel.columns->length : panel.rows->length;
  const Index minor_step = preferred_height(minor, most, how);
  const Index major_step = preferred_width(minor_step, most, how);
  for (Index j = 0; j < major; j += major_step) {
    for (Index i = 0; i < minor; i += minor_step) {
      const Index height = std::min(minor_step, minor - i);
      const Index width = std::min(major_step, major - j);
      f(by_columns ? PanelPiece{how.matrix, &panel, i, height, j, width}
                   : PanelPiece{how.matrix, &panel, j, width, i, height});
    }
  }
}

}  // namespace

bool is_interleaved(std::span<const PackageToCut> packages) {
  constexpr Index short_gap = 4096;  // bytes, a page
  const auto has_short_gaps = [](const PackedRuns& runs, Index element_bytes) {
    const auto gaps = static_cast<Index>(runs.runs.size()) - 1;
    if (gaps < 1) return false;
    const layout::Run& last = runs.runs.back();
    const Index between = last.source_local + last.length - runs.runs.front().source_local - runs.length;
    return between > 0 && between * element_bytes <= gaps * short_gap;
  };
  return std::ranges::any_of(packages, [&](const PackageToCut& how) {
    return std::ranges::any_of(how.package->panels, [&](const Panel& panel) {
      return has_short_gaps(how.packed == StorageOrder::column_major ? *panel.rows : *panel.columns, how.element_bytes);
    });
  });
}

std::vector<Chunk> cut(std::span<const PackageToCut> packages, CutLimits limits) {
  std::vector<Chunk> chunks;
  Index bytes_of_step = 0;
  const auto add = [&](PanelPiece piece, Index element_bytes) {
    const Index bytes = piece.rows * piece.columns * element_bytes;
    const auto aligned = [&](Index end) { return rounded_up(end, element_bytes); };
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
      cut_panel(panel, how, most, [&](const PanelPiece& piece) { add(piece, how.element_bytes); });
    }
  }
  return chunks;
}

}  // namespace plait::redistribute
