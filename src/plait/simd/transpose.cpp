#include "plait/simd/transpose.hpp"

#include <algorithm>
#include <cstring>

#include "plait/base/contract.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/transpose_reference.hpp"
#include "plait/simd/transpose_transformed.hpp"
#include "plait/simd/transposition.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/transpose.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
#include "plait/simd/transpose_tile.inl"
// clang-format on

#ifndef PLAIT_SIMD_TRANSPOSE_ONCE
#define PLAIT_SIMD_TRANSPOSE_ONCE

namespace plait::simd {

namespace {

/// Columns of the source that are read side by side while the target is streamed to. More, and those of a leading
/// dimension that is a power of two push each other out of the caches; fewer, and too little is under way at a time.
template <Index element>
constexpr Index band_columns = element >= 8 ? 16 : std::max(Index{32}, line_bytes / element);

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

/// Streams to a target whose columns are whole lines apart: registers go straight to memory. Along a band of columns of
/// the source, a line of each at a time, so that no line is fetched twice.
template <Index element>
void stream_lines(const Transposition& all) {
  const hn::ScalableTag<std::uint8_t> d;
  constexpr Index line = line_bytes / element;
  const Index first_column = std::min(all.columns, elements_to_line<element>(all.target));
  if (first_column > 0) transpose_cached<element>(all.part<element>(0, 0, all.rows, first_column));
  for (Index c = first_column; c < all.columns; c += band_columns<element>) {
    const Index columns = std::min(band_columns<element>, all.columns - c);
    Index end = first_rows<element>(all);
    for (Index r = 0; r < all.rows; r = end, end += line) {
      end = std::min(end, all.rows);
      const Index first = std::max(Index{0}, std::min(r, end - block_rows<element>));
      transpose_tile<true, element>(d, all.part<element>(first, c, end - first, columns));
    }
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

/// Streams to a target whose columns begin anywhere in a line, or from vectors shorter than a line. A band of the
/// source is transposed into a scratch, from which each column of the target takes the lines that end in the band. They
/// may begin up to a line before it: as much of the band before is transposed again.
template <Index element>
void stream_through_scratch(const Transposition& all, const ElementTransform* transform) {
  const hn::ScalableTag<std::uint8_t> d;
  constexpr Index line = line_bytes / element;
  constexpr Index widest_band = 2 * band_columns<element>;
  constexpr Index scratch_stride = widest_band * element + line_bytes;
  alignas(line_bytes) std::byte scratch[line * scratch_stride];
  const Index band = all.source_stride % 4096 == 0 ? band_columns<element> : widest_band;
  const Index margin = all.target_stride % line_bytes == 0 && bytes_past_line(all.target) == 0 ? 0 : line;
  for (Index c = 0; c < all.columns; c += band) {
    const Index first_column = std::max(Index{0}, c - margin);
    const Index end_column = std::min(c + band, all.columns);
    Index end = line;
    for (Index r = 0; r < all.rows; r = end, end += line) {
      end = std::min(end, all.rows);
      const Index first = std::max(Index{0}, std::min(r, end - block_rows<element>));
      Transposition part = all.part<element>(first, first_column, end - first, end_column - first_column);
      part.target = scratch;
      part.target_stride = scratch_stride;
      transpose_tile<false, element>(d, part);
      for (Index row = r; row < end; ++row) {
        std::byte* elements = scratch + (row - first) * scratch_stride;
        if (transform != nullptr) transform->apply(transform->context, elements, part.columns);
        stream_column(d, all.target + row * all.target_stride, all.columns * element, c * element, end_column * element,
                      elements, first_column * element);
      }
    }
  }
}

template <Index element>
void transpose_elements_of(const Transposition& all, bool streaming, const ElementTransform* transform) {
  constexpr bool vectors_are_lines = hn::MaxLanes(hn::ScalableTag<std::uint8_t>()) == line_bytes;
  const bool lines = all.target_stride % line_bytes == 0 && bytes_past_line(all.target) % element == 0;
  // Shorter columns would be lines written in part for the most.
  const Index least_bytes = lines ? line_bytes : 8 * line_bytes;
  if (!streaming || all.columns * element < least_bytes || all.rows < block_rows<element>) {
    transpose_cached<element>(all);
    return transform_columns(all, transform);
  }
  if (vectors_are_lines && lines && transform == nullptr) {
    stream_lines<element>(all);
  } else {
    stream_through_scratch<element>(all, transform);
  }
  hwy::FlushStream();
}

}  // namespace

void transpose_kernel(const Transposition& all, Index element_bytes, bool streaming,
                      const ElementTransform* transform) {
  switch (element_bytes) {
    case 1: return transpose_elements_of<1>(all, streaming, transform);
    case 2: return transpose_elements_of<2>(all, streaming, transform);
    case 4: return transpose_elements_of<4>(all, streaming, transform);
    case 8: return transpose_elements_of<8>(all, streaming, transform);
    case 16: return transpose_elements_of<16>(all, streaming, transform);
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
void transpose_scalar(const Transposition& all, Index element_bytes, bool /*streaming*/,
                      const ElementTransform* transform) {
  constexpr Index tile = 32;
  for (Index c = 0; c < all.columns; c += tile) {
    for (Index r = 0; r < all.rows; r += tile) {
      transpose_reference(std::min(tile, all.rows - r), std::min(tile, all.columns - c),
                          all.source + r * element_bytes + c * all.source_stride, all.source_stride / element_bytes,
                          all.target + c * element_bytes + r * all.target_stride, all.target_stride / element_bytes,
                          element_bytes);
    }
  }
  transform_columns(all, transform);
}

constexpr KernelTable<void(const Transposition&, Index, bool, const ElementTransform*)> transpose_kernels(
    PLAIT_SIMD_FIXED_LENGTH_KERNELS(&transpose_scalar, transpose_kernel));

}  // namespace

void transpose_transformed(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target,
                           Index target_ld, Index element_bytes, Isa isa, Stores stores,
                           const ElementTransform* transform) {
  PLAIT_ASSERT(rows >= 0 && columns >= 0, "a matrix has no negative extent");
  PLAIT_ASSERT(source_ld >= std::max(Index{1}, rows), "the source's leading dimension spans a column");
  PLAIT_ASSERT(target_ld >= std::max(Index{1}, columns), "the target's leading dimension spans a column");
  PLAIT_ASSERT(
      element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8 || element_bytes == 16,
      "elements are as large as some number or pair of numbers");
  if (rows == 0 || columns == 0) return;
  const Transposition all{rows, columns, source, source_ld * element_bytes, target, target_ld * element_bytes};
  transpose_kernels[isa](all, element_bytes, streams(stores, rows * columns * element_bytes), transform);
}

void transpose(Index rows, Index columns, const std::byte* source, Index source_ld, std::byte* target, Index target_ld,
               Index element_bytes, Isa isa, Stores stores) {
  transpose_transformed(rows, columns, source, source_ld, target, target_ld, element_bytes, isa, stores, nullptr);
}

}  // namespace plait::simd
#endif
