#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/axis.hpp"
#include "plait/layout/owners.hpp"
#include "plait/layout/shape.hpp"

namespace plait::layout {

/// A tile, the product of what one row part and one column part hold, and its extents.
struct TileExtent {
  TilePosition position;
  Index rows = 0;
  Index columns = 0;
  friend bool operator==(const TileExtent&, const TileExtent&) = default;
};

/// Which rank holds which element of a matrix, and where in its memory:  row axis × column axis × owners.
///
/// What row part r and column part c hold in common is one local matrix, the *tile* (r, c), and belongs to
/// `owners().owner(r, c)`. In a block-cyclic layout a tile is a rank's whole local array; in a custom layout every tile
/// of the tiling is one, and a rank may own many or none. The storage order is the one in which plait allocates tiles;
/// tiles that somebody else allocated may lie otherwise.
///
/// Cheap to copy. All but custom layouts are closed formulas whose cost does not depend on the shape.
class Layout {
 public:
  /// \pre  rows.parts() == owners.rows() and columns.parts() == owners.columns()
  /// \throws LayoutError  naming both
  Layout(Axis rows, Axis columns, Owners owners, StorageOrder storage);

  /// Block (i, j) of block_rows × block_columns elements belongs to position
  /// ((i + first_row_part) mod grid rows, (j + first_column_part) mod grid columns), as in ScaLAPACK.
  ///
  /// \pre  shape >= 0 × 0, blocks >= 1 × 1, the first parts lie in the grid
  /// \throws LayoutError
  [[nodiscard]] static Layout block_cyclic(Shape shape, Index block_rows, Index block_columns, Owners grid,
                                           Index first_row_part = 0, Index first_column_part = 0,
                                           StorageOrder storage = StorageOrder::column_major);

  /// Rank r of `ranks` holds whole rows, the r-th of nearly equal parts (`Axis::even`); parts may be empty.
  [[nodiscard]] static Layout rows(Shape shape, int ranks, StorageOrder storage = StorageOrder::row_major);

  /// Likewise for whole columns.
  [[nodiscard]] static Layout columns(Shape shape, int ranks, StorageOrder storage = StorageOrder::column_major);

  /// Each rank of a process grid holds one block, of nearly equal extents (`Axis::even` in both directions).
  [[nodiscard]] static Layout blocks(Shape shape, Index grid_rows, Index grid_columns, GridOrder order = GridOrder::row,
                                     StorageOrder storage = StorageOrder::column_major);

  /// Tile (i, j) is rows [row_splits[i], row_splits[i+1]) by columns [column_splits[j], column_splits[j+1]) and belongs
  /// to `owners[i * column tiles + j]`.
  ///
  /// \throws LayoutError  as `Axis::cut` and `Owners::listed`
  [[nodiscard]] static Layout custom(std::vector<Index> row_splits, std::vector<Index> column_splits,
                                     std::vector<int> owners, StorageOrder storage = StorageOrder::column_major);

  [[nodiscard]] Shape shape() const noexcept { return {rows_.extent(), columns_.extent()}; }
  [[nodiscard]] const Axis& rows() const noexcept { return rows_; }
  [[nodiscard]] const Axis& columns() const noexcept { return columns_; }
  [[nodiscard]] const Owners& owners() const noexcept { return owners_; }
  [[nodiscard]] StorageOrder storage() const noexcept { return storage_; }

  /// The least size of a communicator that the layout fits on.
  [[nodiscard]] int ranks() const noexcept { return owners_.ranks(); }

  /// The rank that holds an element.
  ///
  /// \throws ArgumentError  if there is no such element
  [[nodiscard]] int owner_of(Index row, Index column) const;

  /// The tiles of a rank in increasing (row part, column part), those without elements included, so that a rank's list
  /// depends on the owners alone. Empty for a rank that owns nothing.
  [[nodiscard]] std::vector<TileExtent> tiles_of(int rank) const;

  /// How many elements a rank holds.
  ///
  /// \throws LayoutError  if the number does not fit an Index
  [[nodiscard]] Index elements_of(int rank) const;

  /// The layout of the submatrix that begins at (row, column), on the same ranks. Its tiles are parts of the tiles of
  /// this layout, at the offsets that the axes' `skipped_before` gives.
  ///
  /// \throws ArgumentError  if the submatrix reaches outside
  [[nodiscard]] Layout submatrix(Index row, Index column, Shape shape) const;

  /// The layout of the transpose that needs no movement: every tile keeps its rank and its memory and is read the other
  /// way round.
  [[nodiscard]] Layout transposed() const;

  /// The layout in which rank `ranks[r]` holds what rank r held: see `Owners::relabeled`.
  [[nodiscard]] Layout relabeled(std::span<const int> ranks) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  Axis rows_;
  Axis columns_;
  Owners owners_;
  StorageOrder storage_;
};

/// Whether the same ranks own the same elements: in which order these lie in memory is each tile's own affair.
[[nodiscard]] inline bool distributes_alike(const Layout& a, const Layout& b) {
  return a.rows() == b.rows() && a.columns() == b.columns() && a.owners() == b.owners();
}

}  // namespace plait::layout
