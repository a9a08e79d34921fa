#include "plait/simd/transform/transpose.hpp"

#include <algorithm>
#include <cstring>

#include "plait/base/contract.hpp"
#include "plait/simd/cache_lines.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/prefetch.hpp"
#include "plait/simd/transform/band_fetch.hpp"
#include "plait/simd/transform/reference.hpp"
#include "plait/simd/transform/transpose_transformed.hpp"
#include "plait/simd/transform/transposition.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/transform/transpose.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "plait/simd/transform/transpose_tile.inl"
// clang-format on

#ifndef PLAIT_SIMD_TRANSPOSE_ONCE
#define PLAIT_SIMD_TRANSPOSE_ONCE

namespace plait::simd {

namespace {

/// Columns of the source that are read side by side while the target is streamed to: as many as make 256 bytes of the
/// target, where that does not take too many of small elements, and half of them where they collide; a line at least.
template <Index element, bool colliding>
constexpr Index band_columns = std::max(std::min(256 / element, Index{64}) / (colliding ? 2 : 1), line_bytes / element);

template <bool colliding>
constexpr Index lines_together = colliding ? 8 : 1;

void transform_columns(const Transposition& all, const ElementTransform* transform) {
  if (transform == nullptr) return;
  for (Index r = 0; r < all.rows; ++r) {
    transform->apply(transform->context, all.target + r * all.target_stride, all.columns);
  }
}

}  // namespace

}  // namespace plait::simd

#endif

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

/// Rows up to a line of the source, if its columns agree in that, or one line more where they are less than a block.
template <Index element>
Index first_rows(const Transposition& all) {
  constexpr Index line = line_bytes / element;
  if (all.source_stride % line_bytes != 0) return line;
  const Index rows = elements_to_line<element>(all.source);
  return rows < block_rows<element> ? rows + line : rows;
}

/// A few rows of a source, transformed before they are transposed: a single call transforms all of them, and what is
/// transposed goes from registers to memory as ever.
template <Index element, Index most_columns>
class TransformedRows {
 public:
  explicit TransformedRows(const ElementTransform* transform) : transform_(transform) {}

  /// The same part with its source in the scratch, until the next call; itself if nothing is transformed.
  HWY_INLINE Transposition of(const Transposition& part) {
    if (transform_ == nullptr) return part;
    const Index bytes = part.rows * element;
    for (Index c = 0; c < part.columns; ++c) {
      const std::byte* column = part.source + c * part.source_stride;
      if (bytes == line_bytes) {  // without a call
        std::memcpy(scratch_ + c * line_bytes, column, std::size_t{line_bytes});
      } else {
        std::memcpy(scratch_ + c * bytes, column, static_cast<std::size_t>(bytes));
      }
    }
    transform_->apply(transform_->context, scratch_, part.columns * part.rows);
    Transposition result = part;
    result.source = scratch_;
    result.source_stride = bytes;
    return result;
  }

 private:
  const ElementTransform* transform_;
  alignas(line_bytes) std::byte scratch_[most_columns * 2 * line_bytes];  // see first_rows
};

/// Streams a line of each column, or what is left of it, at least a block of rows. All of a row is written at once,
/// since memory takes long rows best; but colliding columns leave the first-level cache too early for that, and are
/// read a whole line at a time, where squares of lines fit into registers.
template <Index element, bool colliding>
HWY_INLINE void stream_line_of_columns(const Transposition& all) {
  const hn::ScalableTag<std::uint8_t> d;
  constexpr Index line = line_bytes / element;
  constexpr bool vectors_are_lines = hn::MaxLanes(hn::ScalableTag<std::uint8_t>()) == line_bytes;
  constexpr bool square_fits_registers = line <= 16;
  Index squares = 0;
  if constexpr (colliding && vectors_are_lines && square_fits_registers) {
    if (all.rows == line) squares = all.columns / line * line;
    for (Index c = 0; c < squares; c += line) stream_square<element>(d, all.part<element>(0, c, line, line));
    if (squares == all.columns) return;
  }
  transpose_tile<true, element, !colliding>(d, all.part<element>(0, squares, all.rows, all.columns - squares));
}

/// Streams to a target whose columns are whole lines apart: registers go straight to memory. Along a band of columns of
/// the source, a line of each at a time, so that no line is fetched twice.
template <Index element, bool colliding>
void stream_lines(const Transposition& all, std::span<const ElementRun> runs, const ElementTransform* transform) {
  constexpr Index line = line_bytes / element;
  constexpr Index most_columns = band_columns<element, colliding>;
  const Index first_column = std::min(all.columns, elements_to_line<element>(all.target));
  BandFetch<element, lines_together<colliding>> ahead(all, runs, first_column, most_columns);
  TransformedRows<element, most_columns> transformed(transform);
  for (Index c = 0; c < all.columns;) {
    const Index columns = c < first_column ? first_column : std::min(most_columns, all.columns - c);
    for (const ElementRun& run : runs) {
      const Transposition band = all.run<element>(run).template part<element>(0, c, run.length, columns);
      if (c < first_column || run.length < block_rows<element>) {
        if (c >= first_column) ahead.advance(run.length);
        transpose_cached<element>(band);
        transform_columns(band, transform);
        continue;
      }
      Index end = first_rows<element>(band);
      for (Index r = 0; r < run.length; r = end, end += line) {
        end = std::min(end, run.length);
        ahead.advance(end - r);
        const Index first = std::max(Index{0}, std::min(r, end - block_rows<element>));
        stream_line_of_columns<element, colliding>(transformed.of(band.part<element>(first, 0, end - first, columns)));
      }
    }
    c += columns;
  }
}

/// Streams the part of a target's column that a scratch holds from the column's byte `skipped` on: the lines that end
/// in [begin, end), and what lies before the first line and after the last one of the whole column.
template <class D>
HWY_INLINE void stream_column(D d, std::byte* target, Index bytes, Index begin, Index end, const std::byte* scratch,
                              Index skipped) {
  const Index past = bytes_past_line(target);
  const Index last = line_before(end + past) - past;
  Index at = line_before(begin + past) - past;
  if (begin == 0) {
    at = (line_bytes - past) % line_bytes;
    std::memcpy(target, scratch, static_cast<std::size_t>(at));
  }
  for (; at < last; at += static_cast<Index>(hn::MaxLanes(D()))) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(scratch + at - skipped)), d,
               reinterpret_cast<std::uint8_t*>(target + at));
  }
  if (end == bytes) std::memcpy(target + at, scratch + at - skipped, static_cast<std::size_t>(end - at));
}

/// Fetches the lines of the target that are written in part soon: the first and the last one of columns that a band
/// begins or ends.
HWY_INLINE void fetch_partial_lines(const Transposition& all, Index row, Index begin, Index end, Index element) {
  constexpr Index rows_ahead = 16;
  const Index last = std::min(row + rows_ahead + line_bytes / element, all.rows);
  for (Index r = row + rows_ahead; r < last; ++r) {
    const std::byte* column = all.target + r * all.target_stride;
    if (begin == 0) prefetch(column);
    if (end == all.columns * element) prefetch(column + end - 1);
  }
}

/// Streams to a target whose columns begin anywhere in a line. A band of the source is transposed into a scratch, from
/// which each column of the target takes the lines that end in the band. They may begin up to a line before it: as much
/// of the band before is transposed again.
template <Index element, bool colliding>
void stream_through_scratch(const Transposition& all, std::span<const ElementRun> runs,
                            const ElementTransform* transform) {
  const hn::ScalableTag<std::uint8_t> d;
  constexpr Index line = line_bytes / element;
  constexpr Index band = band_columns<element, colliding>;
  constexpr Index scratch_stride = band * element + line_bytes;
  alignas(line_bytes) std::byte scratch[line * scratch_stride];
  const Index margin = all.target_stride % line_bytes == 0 && bytes_past_line(all.target) == 0 ? 0 : line;
  BandFetch<element, lines_together<colliding>> ahead(all, runs, 0, band);
  for (Index c = 0; c < all.columns; c += band) {
    const Index first_column = std::max(Index{0}, c - margin);
    const Index end_column = std::min(c + band, all.columns);
    for (const ElementRun& run : runs) {
      const Transposition rows = all.run<element>(run);
      Index end = line;
      for (Index r = 0; r < run.length; r = end, end += line) {
        end = std::min(end, run.length);
        ahead.advance(end - r);
        const Index first = std::max(Index{0}, std::min(r, end - block_rows<element>));
        Transposition part = rows.part<element>(first, first_column, end - first, end_column - first_column);
        part.target = scratch;
        part.target_stride = scratch_stride;
        transpose_tile<false, element>(d, part);
        fetch_partial_lines(rows, r, c * element, end_column * element, element);
        for (Index row = r; row < end; ++row) {
          std::byte* elements = scratch + (row - first) * scratch_stride;
          if (transform != nullptr) transform->apply(transform->context, elements, part.columns);
          stream_column(d, rows.target + row * all.target_stride, all.columns * element, c * element,
                        end_column * element, elements, first_column * element);
        }
      }
    }
  }
}

template <Index element, bool colliding>
void stream_elements(const Transposition& all, std::span<const ElementRun> runs, const ElementTransform* transform,
                     bool lines) {
  if (lines) {
    stream_lines<element, colliding>(all, runs, transform);
  } else {
    stream_through_scratch<element, colliding>(all, runs, transform);
  }
}

/// Leaves streaming stores to be flushed.
template <Index element>
void transpose_elements_of(const Transposition& all, std::span<const ElementRun> runs, bool streaming,
                           const ElementTransform* transform) {
  const bool lines = all.target_stride % line_bytes == 0 && bytes_past_line(all.target) % element == 0;
  // Shorter columns would be lines written in part for the most.
  const Index least_bytes = lines ? line_bytes : 8 * line_bytes;
  if (!streaming || all.columns * element < least_bytes) {
    for (const ElementRun& run : runs) {
      transpose_cached<element>(all.run<element>(run));
      transform_columns(all.run<element>(run), transform);
    }
  } else if (columns_collide(all.source_stride)) {
    stream_elements<element, true>(all, runs, transform, lines);
  } else {
    stream_elements<element, false>(all, runs, transform, lines);
  }
}

}  // namespace

/// \pre  there is a run
void transpose_kernel(const Transposition& all, std::span<const ElementRun> runs, Index element_bytes, bool streaming,
                      const ElementTransform* transform) {
  switch (element_bytes) {
    case 1: return transpose_elements_of<1>(all, runs, streaming, transform);
    case 2: return transpose_elements_of<2>(all, runs, streaming, transform);
    case 4: return transpose_elements_of<4>(all, runs, streaming, transform);
    case 8: return transpose_elements_of<8>(all, runs, streaming, transform);
    case 16: return transpose_elements_of<16>(all, runs, streaming, transform);
    default: return;
  }
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

/// Tile by tile, as the caches want it of scalar code too.
void transpose_scalar(const Transposition& all, std::span<const ElementRun> runs, Index element_bytes,
                      bool /*streaming*/, const ElementTransform* transform) {
  constexpr Index tile = 32;
  for (const ElementRun& run : runs) {
    const Transposition rows = all.run(run, element_bytes);
    for (Index c = 0; c < rows.columns; c += tile) {
      for (Index r = 0; r < rows.rows; r += tile) {
        transpose_reference(std::min(tile, rows.rows - r), std::min(tile, rows.columns - c),
                            rows.source + r * element_bytes + c * rows.source_stride,
                            rows.source_stride / element_bytes,
                            rows.target + c * element_bytes + r * rows.target_stride,
                            rows.target_stride / element_bytes, element_bytes);
      }
    }
    transform_columns(rows, transform);
  }
}

constexpr KernelTable<void(const Transposition&, std::span<const ElementRun>, Index, bool, const ElementTransform*)>
    transpose_kernels(PLAIT_SIMD_FIXED_LENGTH_KERNELS(&transpose_scalar, transpose_kernel));

bool is_size_of_element(Index bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16; }

constexpr std::size_t least_teeth = 4;

/// How many runs, from the first on, are single rows that are neighbours in the source and lie at equal distances in
/// the target, like those of a block that are dealt out in turn: transposed at once, as columns that lie so far apart.
/// 0 if there are few.
Index teeth_at(std::span<const ElementRun> runs) {
  if (runs.size() < least_teeth) return 0;
  const Index distance = runs[1].target - runs[0].target;
  std::size_t teeth = 0;
  while (teeth < runs.size() && runs[teeth].length == 1 &&
         runs[teeth].source == runs[0].source + static_cast<Index>(teeth) &&
         runs[teeth].target == runs[0].target + static_cast<Index>(teeth) * distance) {
    ++teeth;
  }
  return teeth < least_teeth || distance < 1 ? 0 : static_cast<Index>(teeth);
}

}  // namespace

void transpose_runs(std::span<const ElementRun> rows, std::span<const ElementRun> columns, const std::byte* source,
                    Index source_ld, std::byte* target, Index target_ld, Index element_bytes, Isa isa, Stores stores) {
  PLAIT_ASSERT(is_size_of_element(element_bytes), "elements are as large as some number or pair of numbers");
  if (rows.empty()) return;
  auto& kernel = transpose_kernels[isa];
  const bool streaming = stores == Stores::streaming;
  for (const ElementRun& run : columns) {
    const Index source_stride = source_ld * element_bytes;
    const Index target_stride = target_ld * element_bytes;
    const std::byte* from = source + run.source * source_stride;
    std::byte* to = target + run.target * element_bytes;
    for (std::span<const ElementRun> left = rows; !left.empty();) {
      if (const Index teeth = teeth_at(left); teeth > 0) {
        const Index distance = left[1].target - left[0].target;
        const Transposition all{0,
                                run.length,
                                from + left[0].source * element_bytes,
                                source_stride,
                                to + left[0].target * target_stride,
                                distance * target_stride};
        const ElementRun comb{0, 0, teeth};
        kernel(all, {&comb, 1}, element_bytes, streaming, nullptr);
        left = left.subspan(static_cast<std::size_t>(teeth));
        continue;
      }
      std::size_t others = 1;
      while (others < left.size() && teeth_at(left.subspan(others)) == 0) ++others;
      const Transposition all{0, run.length, from, source_stride, to, target_stride};
      kernel(all, left.first(others), element_bytes, streaming, nullptr);
      left = left.subspan(others);
    }
  }
  if (streaming) hwy::FlushStream();
}

void transpose_transformed(std::span<const ElementRun> runs, Index columns, const std::byte* source, Index source_ld,
                           std::byte* target, Index target_ld, Index element_bytes, Isa isa, Stores stores,
                           const ElementTransform* transform) {
  PLAIT_ASSERT(columns >= 0, "a matrix has no negative extent");
  PLAIT_ASSERT(target_ld >= std::max(Index{1}, columns), "the target's leading dimension spans a column");
  PLAIT_ASSERT(is_size_of_element(element_bytes), "elements are as large as some number or pair of numbers");
  const Index rows = rows_of(runs);
  if (rows == 0 || columns == 0) return;
  const Transposition all{0, columns, source, source_ld * element_bytes, target, target_ld * element_bytes};
  const bool streaming = streams(stores, rows * columns * element_bytes);
  transpose_kernels[isa](all, runs, element_bytes, streaming, transform);
  if (streaming) hwy::FlushStream();
}

void transpose(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target, Index target_ld,
               Index element_bytes, Isa isa, Stores stores) {
  PLAIT_ASSERT(rows >= 0, "a matrix has no negative extent");
  PLAIT_ASSERT(source_ld >= std::max(Index{1}, rows), "the source's leading dimension spans a column");
  const ElementRun run{0, 0, rows};
  transpose_transformed({&run, 1}, columns, source, source_ld, target, target_ld, element_bytes, isa, stores, nullptr);
}

}  // namespace plait::simd
#endif
