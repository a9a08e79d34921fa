// Transposition of tiles in registers, once for each target: included after Highway by a file that `foreach_target.h`
// includes. The guard follows Highway's.
#if defined(PLAIT_SIMD_TRANSPOSE_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_TRANSPOSE_TILE_INL
#undef PLAIT_SIMD_TRANSPOSE_TILE_INL
#else
#define PLAIT_SIMD_TRANSPOSE_TILE_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <hwy/highway.h>

#include "plait/simd/targets.hpp"
#include "plait/simd/transform/transposition.hpp"

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <Index element>
using LaneOf = hwy::UnsignedFromSize<static_cast<std::size_t>(std::min(element, Index{8}))>;

/// Columns of a block as wide as a vector, and its rows: as many as fill 16 bytes.
template <Index element, class D>
constexpr Index block_columns = static_cast<Index>(hn::MaxLanes(D())) / element;
template <Index element>
constexpr Index block_rows = 16 / element;

template <class D, std::size_t n>
struct Vectors {
  hn::VFromD<D> vector[n];
};

/// The 16-byte parts of a vector come from places `step` bytes apart.
template <class D>
HWY_INLINE hn::VFromD<D> load_parts(D d, const std::byte* source, Index step) {
  constexpr Index parts = static_cast<Index>(hn::MaxLanes(D())) / 16;
  if constexpr (parts == 1) {
    (void)step;
    return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(source));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_parts(half, source + parts / 2 * step, step), load_parts(half, source, step));
  }
}

template <bool upper, class L, class D>
HWY_INLINE hn::VFromD<D> interleave(L lanes, D d, hn::VFromD<D> a, hn::VFromD<D> b) {
  if constexpr (upper) {
    return hn::BitCast(d, hn::InterleaveUpper(lanes, hn::BitCast(lanes, a), hn::BitCast(lanes, b)));
  } else {
    return hn::BitCast(d, hn::InterleaveLower(lanes, hn::BitCast(lanes, a), hn::BitCast(lanes, b)));
  }
}

/// A perfect shuffle of all elements within each 16-byte part. It rotates the bits of an element's index (vector, lane)
/// by one, so that log2(n) of them swap vector and lane.
template <Index element, class D, std::size_t n, std::size_t... i>
HWY_INLINE Vectors<D, n> shuffled(D d, const Vectors<D, n>& v, std::index_sequence<i...>) {
  const hn::Repartition<LaneOf<element>, D> lanes;
  return {{interleave < i % 2 != 0 > (lanes, d, v.vector[i / 2], v.vector[i / 2 + n / 2])...}};
}

template <Index element, std::size_t times, class D, std::size_t n>
HWY_INLINE Vectors<D, n> transposed(D d, const Vectors<D, n>& v) {
  if constexpr (times <= 1) {
    return v;
  } else {
    return transposed<element, times / 2>(d, shuffled<element>(d, v, std::make_index_sequence<n>()));
  }
}

/// Transposes `block_rows` × `block_columns` elements. Each 16-byte part of the vectors holds a square of its own, of
/// neighbouring columns: loading them part by part costs no more than whole vectors with shuffles across the parts
/// would, serves every vector length, and each store fills consecutive bytes.
template <bool streaming, Index element, class D, std::size_t... i>
HWY_INLINE void transpose_block(D d, const std::byte* source, Index source_stride, std::byte* target,
                                Index target_stride, std::index_sequence<i...>) {
  constexpr std::size_t n = sizeof...(i);
  const Vectors<D, n> columns{
      {load_parts(d, source + static_cast<Index>(i) * source_stride, static_cast<Index>(n) * source_stride)...}};
  const Vectors<D, n> rows = transposed<element, n>(d, columns);
  if constexpr (streaming) {
    (hn::Stream(rows.vector[i], d, reinterpret_cast<std::uint8_t*>(target + static_cast<Index>(i) * target_stride)),
     ...);
  } else {
    (hn::StoreU(rows.vector[i], d, reinterpret_cast<std::uint8_t*>(target + static_cast<Index>(i) * target_stride)),
     ...);
  }
}

/// At least one block of rows by at least one block of columns, along which each row of it is written at once. Where
/// blocks don't divide the extents, the last ones overlap their neighbours.
template <bool streaming, Index element, class D>
HWY_INLINE void transpose_strip(D d, Index rows, Index columns, const std::byte* source, Index source_stride,
                                std::byte* target, Index target_stride) {
  constexpr Index height = block_rows<element>;
  constexpr Index width = block_columns<element, D>;
  for (Index r = 0; r < rows; r += height) {
    for (Index c = 0; c < columns; c += width) {
      const Index right = std::min(c, columns - width);
      transpose_block<streaming, element>(d, source + right * source_stride, source_stride, target + right * element,
                                          target_stride, std::make_index_sequence<16 / element>());
    }
    const Index down = std::min(height, rows - height - r);
    source += down * element;
    target += down * target_stride;
  }
}

template <Index element>
HWY_NOINLINE void transpose_elements(const Transposition& all) {
  for (Index c = 0; c < all.columns; ++c) {
    for (Index r = 0; r < all.rows; ++r) {
      std::memcpy(all.target + c * element + r * all.target_stride, all.source + r * element + c * all.source_stride,
                  static_cast<std::size_t>(element));
    }
  }
}

/// A tile of any shape, in strips of a line of the target or, `along_rows`, of all whole lines that a row of it has.
/// With `streaming`, all whole lines of columns are streamed: the target begins on a line and its columns are whole
/// lines apart.
template <bool streaming, Index element, bool along_rows = false, class D>
void transpose_tile(D d, const Transposition& all) {
  constexpr Index width = block_columns<element, D>;
  constexpr Index line = line_bytes / element;
  if (all.rows < block_rows<element>) return transpose_elements<element>(all);
  if (all.columns < width) {
    if constexpr (width > block_rows<element>) {
      return transpose_tile<false, element>(hn::Half<D>(), all);
    } else {
      return transpose_elements<element>(all);
    }
  }
  Index c = 0;
  const Index strip = along_rows ? std::max(line, all.columns / line * line) : line;
  for (; c + strip <= all.columns; c += strip) {
    transpose_strip<streaming, element>(d, all.rows, strip, all.source + c * all.source_stride, all.source_stride,
                                        all.target + c * element, all.target_stride);
  }
  if (c == all.columns) return;
  c = std::min(c, all.columns - width);
  transpose_strip<false, element>(d, all.rows, all.columns - c, all.source + c * all.source_stride, all.source_stride,
                                  all.target + c * element, all.target_stride);
}

/// Transposes four 16-byte parts of four vectors: part b of the g-th one becomes part g of the b-th.
template <class D>
HWY_INLINE Vectors<D, 4> parts_transposed(D d, const Vectors<D, 4>& v) {
  const auto even = [](auto left, auto right) { return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(right), left); };
  const auto odd = [](auto left, auto right) { return hn::OddEvenBlocks(right, hn::SwapAdjacentBlocks(left)); };
  const auto even_left = even(v.vector[0], v.vector[1]);
  const auto even_right = even(v.vector[2], v.vector[3]);
  const auto odd_left = odd(v.vector[0], v.vector[1]);
  const auto odd_right = odd(v.vector[2], v.vector[3]);
  return {{hn::ConcatLowerLower(d, even_right, even_left), hn::ConcatLowerLower(d, odd_right, odd_left),
           hn::ConcatUpperUpper(d, even_right, even_left), hn::ConcatUpperUpper(d, odd_right, odd_left)}};
}

/// A vector of each of as many columns as make 16 bytes of a row: its parts are transposed squares.
template <Index element, class D, std::size_t... i>
HWY_INLINE Vectors<D, sizeof...(i)> load_transposed(D d, const std::byte* source, Index source_stride,
                                                    std::index_sequence<i...>) {
  const Vectors<D, sizeof...(i)> columns{
      {hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(source + static_cast<Index>(i) * source_stride))...}};
  return transposed<element, sizeof...(i)>(d, columns);
}

/// Transposes a square whose columns are vectors of 64 bytes: a line of each column is read at once, and a line of each
/// row streamed.
template <Index element, class D>
HWY_INLINE void stream_square(D d, const Transposition& square) {
  constexpr Index height = block_rows<element>;
  constexpr auto sequence = std::make_index_sequence<static_cast<std::size_t>(height)>();
  const auto load = [&](Index group) {
    return load_transposed<element>(d, square.source + group * height * square.source_stride, square.source_stride,
                                    sequence);
  };
  const Vectors<D, static_cast<std::size_t>(height)> groups[4] = {load(0), load(1), load(2), load(3)};
  for (Index j = 0; j < height; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const Vectors<D, 4> rows = parts_transposed<D>(
        d, {{groups[0].vector[at], groups[1].vector[at], groups[2].vector[at], groups[3].vector[at]}});
    for (Index b = 0; b < 4; ++b) {
      hn::Stream(rows.vector[b], d,
                 reinterpret_cast<std::uint8_t*>(square.target + (b * height + j) * square.target_stride));
    }
  }
}

/// Tiles for stores to the caches: long ones, so that the processor fetches ahead along the matrix whose columns lie
/// farther apart, and such that both sides fit into the first-level cache.
template <Index element>
struct CachedTile {
  static constexpr Index long_side = std::min(Index{256}, 1024 / element);
  static constexpr Index short_side = std::max(Index{32}, line_bytes / element);
};

template <Index element>
void transpose_cached(const Transposition& all) {
  const hn::ScalableTag<std::uint8_t> d;
  using Tile = CachedTile<element>;
  const bool along_target = all.target_stride > all.source_stride;
  const Index tile_rows = along_target ? Tile::short_side : Tile::long_side;
  const Index tile_columns = along_target ? Tile::long_side : Tile::short_side;
  for (Index c = 0; c < all.columns; c += tile_columns) {
    const Index columns = std::min(tile_columns, all.columns - c);
    for (Index r = 0; r < all.rows; r += tile_rows) {
      const Index rows = std::min(tile_rows, all.rows - r);
      transpose_tile<false, element>(d, all.part<element>(r, c, rows, columns));
    }
  }
}

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
