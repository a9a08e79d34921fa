#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/layout.hpp"

namespace plait::layout {

enum class LayoutKind : unsigned char { block_cyclic, rows, columns, blocks, custom };

/// The storage order that the text form means when it does not say one: by rows for `rows`, else by columns.
[[nodiscard]] constexpr StorageOrder default_storage(LayoutKind kind) noexcept {
  return kind == LayoutKind::rows ? StorageOrder::row_major : StorageOrder::column_major;
}

/// A layout in words, for a matrix of a shape that is not yet known:
///
///     block-cyclic:32x128@4x2,order=col,src=1,0     blocks of 32 × 128 elements dealt to a process grid of 4 × 2 ranks
///     rows@7     cols@3     blocks@3x2              whole rows, whole columns, one block a rank
///     custom:FILE.json                              a table of splits and owners, for others to read
///
/// After these, each at most once, in any order:
///
///     order=row|col     how the ranks of the grid are numbered; row if not said
///     src=R,C           the part of the rows and of the columns to which the first block belongs; block-cyclic only
///     storage=row|col   which neighbours lie side by side in memory; as `default_storage` if not said, or as the file
///                       of a custom layout says
///     ranks=5,6,7       the ranks themselves, row by row of the grid: any, in any order; instead of `order`
///     within=RxC        the matrix is a part of an R × C matrix that is distributed so
///     at=I,J            and begins there at row I and column J, counted from 0; 0,0 if not said
///
/// All numbers are decimal. A comma followed by `name=` begins the next option, any other belongs to the value.
struct LayoutSpec {
  LayoutKind kind = LayoutKind::rows;
  Index block_rows = 1;  // block-cyclic only
  Index block_columns = 1;
  Index grid_rows = 1;  // rows@P is a P × 1 grid, cols@P a 1 × P one
  Index grid_columns = 1;
  GridOrder order = GridOrder::row;
  Index first_row_part = 0;
  Index first_column_part = 0;
  std::optional<StorageOrder> storage;  // none: as `default_storage`, or as a custom file says
  std::vector<int> listed_ranks;        // empty, or one for each position of the grid
  std::optional<Shape> within;
  Index row = 0;  // where the matrix begins in `within`
  Index column = 0;
  std::string path;  // custom only

  /// \throws LayoutError  in three lines: what is wrong and what was expected, the text, and a caret under the place
  [[nodiscard]] static LayoutSpec parse(std::string_view text);

  /// The shortest text that means this; for everything that `parse` returns, `parse(text()) == *this`.
  [[nodiscard]] std::string text() const;

  /// The layout of a matrix of this shape.
  ///
  /// \throws LayoutError  if the kind is custom, if the matrix does not fit into `within`, or if a number can't be
  [[nodiscard]] Layout on(Shape shape) const;

  /// The least size of a communicator that the layout fits on.
  ///
  /// \throws LayoutError  if the kind is custom: its file tells
  [[nodiscard]] int ranks() const;

  friend bool operator==(const LayoutSpec&, const LayoutSpec&) = default;
};

/// The words for a layout, if it has a text form: `spec_of(layout)->on(layout.shape()) == layout`.
[[nodiscard]] std::optional<LayoutSpec> spec_of(const Layout& layout);

/// A layout in one line, for the texts of errors: its text form and its shape, such as "rows@7 of 100 x 50", or else
/// "custom 4x3 tiles of 100 x 50 over 5 ranks".
[[nodiscard]] std::string describe(const Layout& layout);

}  // namespace plait::layout
