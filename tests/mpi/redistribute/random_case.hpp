#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::test {

using Random = std::mt19937_64;

/// Uniform in [low, high].
inline Index uniform(Random& random, Index low, Index high) {
  return std::uniform_int_distribution<Index>(low, high)(random);
}

/// Any kind of layout on some of `ranks` ranks: the same on all ranks if their generators are in the same state.
layout::Layout random_layout(Random& random, layout::Shape shape, int ranks);

/// Element (i, j) of a matrix: a small integer in every part, so that sums and products are exact in every type.
template <class T>
T element(std::uint64_t seed, Index i, Index j) {
  const auto mixed = static_cast<std::uint64_t>(i) * 1000003U + static_cast<std::uint64_t>(j) * 10007U + seed * 7919U;
  const auto small = static_cast<int>(mixed % 61U);
  if constexpr (requires(T z) { z.imag(); }) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(small), static_cast<Part>(static_cast<int>((mixed / 61U) % 13U) - 6));
  } else {
    return static_cast<T>(small);
  }
}

template <class T>
T conjugated(T value) {
  if constexpr (requires { value.imag(); }) return std::conj(value);
  return value;
}

/// alpha·x + beta·y with the wrap-around of T.
template <class T>
T combined(T alpha, T x, T beta, T y) {
  if constexpr (std::is_integral_v<T>) {
    const auto u = [](T v) { return static_cast<std::uint64_t>(v); };
    return static_cast<T>(u(alpha) * u(x) + u(beta) * u(y));
  } else {
    return alpha * x + beta * y;
  }
}

/// The tiles of one rank in memory with gaps: any storage order and leading dimension each, sentinels wherever no
/// element lies.
template <class T>
class GappedTiles {
 public:
  GappedTiles(const layout::Layout& layout, int rank, Random random)
      : layout_(layout), positions_(layout.tiles_of(rank)) {
    for (const layout::TileExtent& tile : positions_) {
      const auto order = uniform(random, 0, 1) == 0 ? StorageOrder::column_major : StorageOrder::row_major;
      const Index minor = order == StorageOrder::column_major ? tile.rows : tile.columns;
      const Index major = order == StorageOrder::column_major ? tile.columns : tile.rows;
      const Index leading = std::max(Index{1}, minor) + uniform(random, 0, 5);
      const Index before = uniform(random, 0, 9);
      memory_.emplace_back(static_cast<std::size_t>(before + leading * major + 7), sentinel());
      tiles_.emplace_back(memory_.back().data() + before, tile.rows, tile.columns, leading, order);
    }
    const_tiles_.assign(tiles_.begin(), tiles_.end());
  }

  [[nodiscard]] std::span<const matrix_view<T>> tiles() const { return tiles_; }
  [[nodiscard]] std::span<const matrix_view<const T>> const_tiles() const { return const_tiles_; }

  template <class F>
  void for_each(F f) {
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
      for (Index i = 0; i < tiles_[t].rows(); ++i) {
        for (Index j = 0; j < tiles_[t].columns(); ++j) {
          const Index row = layout_.rows().global_of(positions_[t].position.row, i);
          const Index column = layout_.columns().global_of(positions_[t].position.column, j);
          f(row, column, tiles_[t](i, j));
        }
      }
    }
  }

  /// Memory cells that hold no element and are no sentinel any more.
  Index damaged_cells() {
    Index sentinels = 0;
    Index cells = 0;
    Index elements = 0;
    for_each([&](Index, Index, T& value) {
      value = T{};
      ++elements;
    });
    for (const auto& memory : memory_) {
      cells += static_cast<Index>(memory.size());
      sentinels += std::count(memory.begin(), memory.end(), sentinel());
    }
    return cells - elements - sentinels;
  }

  static T sentinel() { return static_cast<T>(107); }

 private:
  layout::Layout layout_;
  std::vector<layout::TileExtent> positions_;
  std::vector<std::vector<T>> memory_;
  std::vector<matrix_view<T>> tiles_;
  std::vector<matrix_view<const T>> const_tiles_;
};

}  // namespace plait::test
