#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/layout/check_tiles.hpp"
#include "plait/layout/layout.hpp"

namespace plait::layout {

/// Where the tiles of a rank lie in one stretch of memory, each on a cache line of its own.
struct TilePlacement {
  std::vector<TileExtent> tiles;  // as Layout::tiles_of
  std::vector<Index> offsets;     // of each, in bytes
  Index bytes = 0;                // of all of them
};

/// Tiles one after the other, each in the layout's storage order without gaps between its columns (rows).
///
/// \throws ArgumentError  if the rank is negative
/// \throws OutOfMemory    if the bytes do not fit an Index
[[nodiscard]] TilePlacement place_tiles(const Layout& layout, int rank, Index element_bytes);

/// \throws ArgumentError  if it is too short, or begins within a cache line
void expect_memory(const TilePlacement& placement, std::span<const std::byte> memory);

/// Calls f(row, column, local row, local column) for every element of a tile of the layout, in the given storage order;
/// row and column count in the whole matrix.
template <class F>
void for_each_index(const Layout& layout, TilePosition tile, StorageOrder order, F&& f) {
  if (layout.shape().empty()) return;  // however many lines there may be with nothing in them
  const auto walk = [](const Axis& axis, Index part, auto&& visit) {
    axis.for_each_segment(part, [&](const Segment& segment) {
      for (Index i = 0; i < segment.length; ++i) visit(segment.global + i, segment.local + i);
    });
  };
  if (order == StorageOrder::column_major) {
    walk(layout.columns(), tile.column, [&](Index column, Index local_column) {
      walk(layout.rows(), tile.row, [&](Index row, Index local_row) { f(row, column, local_row, local_column); });
    });
  } else {
    walk(layout.rows(), tile.row, [&](Index row, Index local_row) {
      walk(layout.columns(), tile.column,
           [&](Index column, Index local_column) { f(row, column, local_row, local_column); });
    });
  }
}

/// The tiles that one rank holds of a distributed matrix, in memory of its own or the caller's. Each tile begins on a
/// cache line and has the leading dimension max(1, its rows) in column-major, max(1, its columns) in row-major order;
/// the order is the layout's. Contents are uninitialised. A rank outside of the layout holds no tiles.
///
/// \throws ArgumentError   if the rank is negative
/// \throws OutOfMemory     if the tiles need more bytes than an Index can count
/// \throws std::bad_alloc
template <class T>
  requires std::is_trivially_copyable_v<T>
class DistributedMatrix {
  static_assert(alignof(T) <= Buffer::alignment);

 public:
  DistributedMatrix(Layout layout, int rank) : layout_(std::move(layout)), rank_(rank) {
    const TilePlacement placement = place_tiles(layout_, rank, Index{sizeof(T)});
    memory_ = Buffer(placement.bytes);
    make_tiles(placement, memory_.bytes());
  }
  /// In the caller's memory, which begins on a cache line and outlives the matrix, such as `mpi::SharedMemory`.
  /// \throws ArgumentError  if it has fewer bytes than `bytes_of` says
  DistributedMatrix(Layout layout, int rank, std::span<std::byte> memory) : layout_(std::move(layout)), rank_(rank) {
    const TilePlacement placement = place_tiles(layout_, rank, Index{sizeof(T)});
    expect_memory(placement, memory);
    make_tiles(placement, memory);
  }

  /// What the tiles of a rank take.
  [[nodiscard]] static Index bytes_of(const Layout& layout, int rank) {
    return place_tiles(layout, rank, Index{sizeof(T)}).bytes;
  }

  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }

  /// The tiles in the order of `Layout::tiles_of`.
  [[nodiscard]] std::span<const matrix_view<T>> tiles() noexcept { return tiles_; }
  [[nodiscard]] std::span<const matrix_view<const T>> tiles() const noexcept { return const_tiles_; }
  [[nodiscard]] std::span<const matrix_view<const T>> const_tiles() const noexcept { return const_tiles_; }

  /// Calls f(row, column, element) for every element that this rank holds, tile by tile in the order of its memory; row
  /// and column count in the whole matrix.
  template <class F>
  void for_each_element(F&& f) {
    for_each_in(tiles_, f);
  }
  template <class F>
  void for_each_element(F&& f) const {
    for_each_in(const_tiles_, f);
  }

 private:
  void make_tiles(const TilePlacement& placement, std::span<std::byte> memory) {
    tiles_.reserve(placement.tiles.size());
    for (std::size_t i = 0; i < placement.tiles.size(); ++i) {
      const auto& [position, rows, columns] = placement.tiles[i];
      const bool by_columns = layout_.storage() == StorageOrder::column_major;
      T* first = rows == 0 || columns == 0 ? nullptr : reinterpret_cast<T*>(memory.data() + placement.offsets[i]);
      tiles_.emplace_back(first, rows, columns, std::max(Index{1}, by_columns ? rows : columns), layout_.storage());
      positions_.push_back(position);
    }
    const_tiles_.assign(tiles_.begin(), tiles_.end());
  }

  template <class Tiles, class F>
  void for_each_in(const Tiles& tiles, F& f) const {
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      for_each_index(layout_, positions_[i], tiles[i].order(),
                     [&](Index row, Index column, Index local_row, Index local_column) {
                       f(row, column, tiles[i](local_row, local_column));
                     });
    }
  }

  Layout layout_;
  int rank_;
  Buffer memory_;
  std::vector<TilePosition> positions_;
  std::vector<matrix_view<T>> tiles_;
  std::vector<matrix_view<const T>> const_tiles_;
};

}  // namespace plait::layout
