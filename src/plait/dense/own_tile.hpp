#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/dense/local_product.hpp"
#include "plait/dense/panels.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/tile.hpp"

namespace plait::dense {

/// Whether the ranks hold the same elements in both layouts, each of them as one tile at most of the caller's: then
/// nothing has to move, whatever the axes are made of. (Of axes that deal blocks, if they are made alike.)
///
/// \pre  the shapes are equal, and no rank has more than one tile of `own`
[[nodiscard]] bool lies_as(const layout::Layout& given, const layout::Layout& own);

/// Which of a rank's tiles has elements: its number in `Layout::tiles_of`, -1 if none has.
[[nodiscard]] Index tile_with_elements(const layout::Layout& layout, int rank);

/// A rank's tile of a factor, as products take it: where the caller has it, if that will do, or in memory of its own,
/// without gaps and in the order of the arrangement's layout. The memory stays from run to run.
template <Field T>
class OwnTile {
 public:
  /// \param order  of the arrangement's layout
  /// \param major  columns (rows) of the tile, in this order, and their length
  /// \param terms  these of the caller's columns (rows), one stretch after the other; empty: all in their order
  OwnTile(StorageOrder order, Index minor, Index major, std::vector<Stretch> terms = {})
      : order_(order), minor_(minor), major_(major), terms_(std::move(terms)) {}

  /// Memory for it, which is filled by somebody else.
  /// \throws std::bad_alloc
  [[nodiscard]] T* memory();
  void release() noexcept { memory_ = {}; }
  /// The tile in this memory.
  [[nodiscard]] LocalFactor held() const noexcept;

  /// The caller's tile, op applied; copied where it has to be: if it travels and has gaps or another order, where BLAS
  /// can't conjugate it, as C is stored in the same order, and where its terms have to be put in another order.
  /// \throws std::bad_alloc
  [[nodiscard]] LocalFactor from(const redistribute::TileMemory& tile, redistribute::Op op, bool travels,
                                 StorageOrder c_order);

  /// The tile's memory, if it lies without gaps.
  [[nodiscard]] std::span<const std::byte> bytes(const LocalFactor& tile) const noexcept {
    return {tile.data, static_cast<std::size_t>(minor_ * major_) * sizeof(T)};
  }

 private:
  StorageOrder order_;
  Index minor_, major_;
  std::vector<Stretch> terms_;
  Array<T> memory_;
};

extern template class OwnTile<float>;
extern template class OwnTile<double>;
extern template class OwnTile<std::complex<float>>;
extern template class OwnTile<std::complex<double>>;

}  // namespace plait::dense
