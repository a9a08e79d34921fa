#pragma once

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/dense/panels.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/tile.hpp"

namespace plait::dense {

/// The tile that a layout of one tile a rank gives this rank; nothing for ranks that have none.
[[nodiscard]] std::optional<layout::TileExtent> only_tile(const layout::Layout& layout, int rank);

/// Elements without gaps in memory, as a tile of this extent.
template <class T>
[[nodiscard]] matrix_view<T> packed_tile(const layout::TileExtent& extent, StorageOrder order, T* memory) {
  const Index minor = order == StorageOrder::column_major ? extent.rows : extent.columns;
  return {memory, extent.rows, extent.columns, std::max(Index{1}, minor), order};
}

/// The tiles that a layout gives a rank, to compare those with that a caller brings.
class ExpectedTiles {
 public:
  /// \param name  of the matrix, for complaints
  ExpectedTiles(std::string name, const layout::Layout& layout, int rank);

  /// \throws ShapeMismatch  other tiles, which and how many it says
  void expect(std::span<const redistribute::TileMemory> tiles) const;

 private:
  std::string name_;
  std::vector<layout::TileExtent> extents_;
};

/// One of the factors of a product, as this rank has it: whether it is multiplied where it lies, or is brought to a
/// tile of its own before. Local.
template <Field T>
class Factor {
 public:
  struct Options {
    std::vector<Stretch> terms;  ///< of this rank's tile, in the order in which they are multiplied; empty: as they lie
    bool travels = false;        ///< from rank to rank, in the product
    bool stays = false;          ///< is multiplied where it lies, whatever has to be copied
    StorageOrder c_order = StorageOrder::column_major;
  };

  /// \param name  A or B
  /// \param own   where it is multiplied
  Factor(std::string name, layout::Layout given, Op op, layout::Layout own, Options options, int rank);

  /// Whether it lies on the right ranks already, so that no exchange brings it.
  [[nodiscard]] bool is_there() const noexcept { return is_there_; }
  [[nodiscard]] redistribute::MatrixPair pair() const { return {given_, own_, op_}; }

  /// Memory for what is brought; nothing for what is there.
  /// \throws std::bad_alloc
  void take_memory();
  void release_memory() noexcept { memory_ = {}; }
  /// Where it is brought to: this rank's tile, of which there is one at most.
  /// \pre  !is_there(), take_memory()
  [[nodiscard]] std::span<const matrix_view<T>> target();

  /// \throws ShapeMismatch  what is multiplied where it lies has not the tiles that its layout says
  void expect(std::span<const redistribute::TileMemory> tiles) const {
    if (is_there_) expected_.expect(tiles);
  }
  /// This rank's tile for a product, of which C is stored in this order: the caller's, op applied, or the one that was
  /// brought. The caller's is copied where it has to be: if it travels and has gaps or another order, where BLAS can't
  /// conjugate it, as C is stored in the same order, and where its terms have to be put in another order.
  /// \throws std::bad_alloc
  [[nodiscard]] LocalFactor local(std::span<const redistribute::TileMemory> tiles, StorageOrder c_order);
  /// What of it is sent to other ranks.
  [[nodiscard]] std::span<const std::byte> sent(const LocalFactor& factor) const {
    if (!travels_) return {};
    return {factor.data, static_cast<std::size_t>(minor_ * major_) * sizeof(T)};
  }

 private:
  [[nodiscard]] T* memory();
  [[nodiscard]] LocalFactor held() const noexcept;
  [[nodiscard]] LocalFactor copied(const redistribute::TileMemory& tile, StorageOrder order, bool conjugates);

  layout::Layout given_;
  Op op_;
  layout::Layout own_;
  bool travels_;
  bool is_there_;
  Index number_;  // of this rank's tile of the caller's, if it is there
  ExpectedTiles expected_;
  std::optional<layout::TileExtent> extent_;  // of this rank's own tile,
  Index minor_ = 0, major_ = 0;               // which has so many lines in the order of `own_`, and is without gaps
  std::vector<Stretch> terms_;
  Array<T> memory_;  // for the own tile; it stays from run to run
  std::optional<matrix_view<T>> target_;
};

extern template class Factor<float>;
extern template class Factor<double>;
extern template class Factor<std::complex<float>>;
extern template class Factor<std::complex<double>>;

}  // namespace plait::dense
