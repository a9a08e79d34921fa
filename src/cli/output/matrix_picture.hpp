#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// The sizes of a matrix's elements, by cells of a grid that a picture has room for: the largest of each cell. Elements
/// come in any order, on whichever rank has them.
class MatrixPicture {
 public:
  static constexpr Index most_cells = 160;  // along a side

  MatrixPicture() = default;
  explicit MatrixPicture(layout::Shape shape)
      : shape_(shape),
        cells_{std::min(shape.rows, most_cells), std::min(shape.columns, most_cells)},
        sizes_(static_cast<std::size_t>(layout::elements(cells_))) {}

  [[nodiscard]] const layout::Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const layout::Shape& cells() const noexcept { return cells_; }
  [[nodiscard]] bool is_empty() const noexcept { return sizes_.empty(); }
  [[nodiscard]] double size(Index cell_row, Index cell_column) const {
    return sizes_[static_cast<std::size_t>(cell_row * cells_.columns + cell_column)];
  }
  [[nodiscard]] double largest() const { return is_empty() ? 0 : *std::ranges::max_element(sizes_); }

  void add(Index row, Index column, double size) {
    double& cell = of_row(row)[column * cells_.columns / shape_.columns];
    cell = std::max(cell, size);
  }

  /// A whole row of elements; `size` tells that of each.
  template <class T, class Size>
  void add_row(Index row, std::span<const T> elements, Size size) {
    double* cell = of_row(row);
    for (Index c = 0; c < cells_.columns; ++c, ++cell) {
      const Index begin = (c * shape_.columns + cells_.columns - 1) / cells_.columns;
      const Index end = ((c + 1) * shape_.columns + cells_.columns - 1) / cells_.columns;
      for (Index j = begin; j < end; ++j) *cell = std::max(*cell, size(elements[static_cast<std::size_t>(j)]));
    }
  }

  /// What all ranks have added, on each of them. Collective over `context`.
  void unite(const mpi::Context& context);

  [[nodiscard]] MatrixPicture transposed() const;

 private:
  [[nodiscard]] double* of_row(Index row) { return sizes_.data() + row * cells_.rows / shape_.rows * cells_.columns; }

  layout::Shape shape_{};
  layout::Shape cells_{};
  std::vector<double> sizes_;
};

/// The picture as HTML, with a scale and a caption: eight shades, each a factor of ten or, where elements differ by
/// less, a smaller one. Empty for a matrix without elements.
///
/// \param what  "the density matrix"
[[nodiscard]] std::string drawn(const MatrixPicture& picture, std::string_view what);

}  // namespace plait::cli
