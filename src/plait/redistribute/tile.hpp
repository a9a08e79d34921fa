#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"

namespace plait::redistribute {

/// A local matrix of elements whose type does not matter. Lengths are in elements.
struct Tile {
  std::byte* data = nullptr;
  Index leading_dimension = 1;
  StorageOrder order = StorageOrder::column_major;
};

/// A tile with its extents along and across its columns (rows, if it is row-major), for questions about its memory.
struct TileMemory {
  Tile tile;
  Index minor = 0;
  Index major = 0;

  /// As `matrix_view::span`.
  [[nodiscard]] Index span() const noexcept {
    return minor == 0 || major == 0 ? 0 : (major - 1) * tile.leading_dimension + minor;
  }
};

/// The tiles of a rank. One of them, which is what most ranks have, takes no memory.
class TileList {
 public:
  void add(const TileMemory& tile) {
    if (size_++ == 0) {
      first_ = tile;
      return;
    }
    if (several_.empty()) several_.push_back(first_);
    several_.push_back(tile);
  }
  [[nodiscard]] std::span<const TileMemory> all() const noexcept {
    return several_.empty() ? std::span(&first_, size_) : std::span(several_);
  }

 private:
  std::size_t size_ = 0;
  TileMemory first_;
  std::vector<TileMemory> several_;  // all of them, if there are several
};

template <class T>
TileMemory memory_of(const matrix_view<T>& tile) {
  auto* data = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(tile.data()));
  return {{data, tile.leading_dimension(), tile.order()}, tile.minor_extent(), tile.major_extent()};
}

/// Tiles whose elements are of type T after all.
template <class T>
std::vector<matrix_view<T>> views_of(const TileList& tiles) {
  std::vector<matrix_view<T>> views;
  views.reserve(tiles.all().size());
  for (const auto& [tile, minor, major] : tiles.all()) {
    const bool by_columns = tile.order == StorageOrder::column_major;
    views.emplace_back(reinterpret_cast<T*>(tile.data), by_columns ? minor : major, by_columns ? major : minor,
                       tile.leading_dimension, tile.order);
  }
  return views;
}

}  // namespace plait::redistribute
