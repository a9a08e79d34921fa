#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::test {

using Random = std::mt19937_64;

inline constexpr std::array<redistribute::Op, 4> ops{redistribute::Op::identity, redistribute::Op::transpose,
                                                     redistribute::Op::conjugate,
                                                     redistribute::Op::conjugate_transpose};

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

/// How many elements of this rank's tiles are others than these.
template <class T>
Index wrong_elements(const layout::DistributedMatrix<T>& matrix, std::uint64_t seed) {
  Index wrong = 0;
  matrix.for_each_element([&](Index i, Index j, const T& value) { wrong += value == element<T>(seed, i, j) ? 0 : 1; });
  return wrong;
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
  GappedTiles(const layout::Layout& layout, int rank, Random random) : GappedTiles(layout, rank, random, {}) {}

  /// In memory of the caller's, of which there are `bytes_of` bytes at least; in memory of its own if there are none.
  GappedTiles(const layout::Layout& layout, int rank, Random random, std::span<std::byte> memory)
      : layout_(layout), positions_(layout.tiles_of(rank)) {
    const std::vector<Gaps> all = gaps_of(layout, rank, random);
    Index cells = 0;
    for (const Gaps& gaps : all) cells += gaps.cells;
    if (memory.empty()) own_.resize(static_cast<std::size_t>(cells));
    cells_ = {memory.empty() ? own_.data() : reinterpret_cast<T*>(memory.data()), static_cast<std::size_t>(cells)};
    std::fill(cells_.begin(), cells_.end(), sentinel());
    T* next = cells_.data();
    for (std::size_t t = 0; t < all.size(); ++t) {
      tiles_.emplace_back(next + all[t].before, positions_[t].rows, positions_[t].columns, all[t].leading,
                          all[t].order);
      next += all[t].cells;
    }
    const_tiles_.assign(tiles_.begin(), tiles_.end());
  }

  static Index bytes_of(const layout::Layout& layout, int rank, Random random) {
    Index cells = 1;
    for (const Gaps& gaps : gaps_of(layout, rank, random)) cells += gaps.cells;
    return cells * Index{sizeof(T)};
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
    Index elements = 0;
    for_each([&](Index, Index, T& value) {
      value = T{};
      ++elements;
    });
    const auto sentinels = std::count(cells_.begin(), cells_.end(), sentinel());
    return static_cast<Index>(cells_.size()) - elements - sentinels;
  }

  static T sentinel() { return static_cast<T>(107); }

 private:
  struct Gaps {
    StorageOrder order;
    Index leading, before, cells;
  };
  static std::vector<Gaps> gaps_of(const layout::Layout& layout, int rank, Random& random) {
    std::vector<Gaps> result;
    for (const layout::TileExtent& tile : layout.tiles_of(rank)) {
      const auto order = uniform(random, 0, 1) == 0 ? StorageOrder::column_major : StorageOrder::row_major;
      const Index minor = order == StorageOrder::column_major ? tile.rows : tile.columns;
      const Index major = order == StorageOrder::column_major ? tile.columns : tile.rows;
      const Index leading = std::max(Index{1}, minor) + uniform(random, 0, 5);
      const Index before = uniform(random, 0, 9);
      result.push_back({order, leading, before, before + leading * major + 7});
    }
    return result;
  }

  layout::Layout layout_;
  std::vector<layout::TileExtent> positions_;
  std::vector<T> own_;
  std::span<T> cells_;
  std::vector<matrix_view<T>> tiles_;
  std::vector<matrix_view<const T>> const_tiles_;
};

}  // namespace plait::test
