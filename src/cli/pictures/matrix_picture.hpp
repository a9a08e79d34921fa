#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// The elements of a matrix, by cells of a grid that a picture has room for: of each cell the one of the largest size,
/// with its sign. Elements come in any order, on whichever rank has them.
class MatrixPicture {
 public:
  static constexpr Index most_cells = 160;  // along a side, unless told otherwise

  MatrixPicture() = default;
  enum class Scale : unsigned char { logarithmic, linear };

  explicit MatrixPicture(layout::Shape shape, Scale scale = Scale::logarithmic, Index most = most_cells)
      : scale_(scale),
        shape_(shape),
        cells_{std::min(shape.rows, most), std::min(shape.columns, most)},
        sizes_(2 * static_cast<std::size_t>(layout::elements(cells_)),
               scale == Scale::linear ? -std::numeric_limits<double>::infinity() : 0) {}

  [[nodiscard]] Scale scale() const noexcept { return scale_; }
  [[nodiscard]] const layout::Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const layout::Shape& cells() const noexcept { return cells_; }
  [[nodiscard]] bool is_empty() const noexcept { return sizes_.empty(); }
  /// On a linear scale infinite for a cell without elements.
  [[nodiscard]] double number(Index cell_row, Index cell_column) const {
    const double* sizes = sizes_.data() + 2 * (cell_row * cells_.columns + cell_column);
    return sizes[0] >= sizes[1] ? sizes[0] : -sizes[1];
  }
  /// Where row or column i of the cells begins.
  [[nodiscard]] Index first_row(Index i) const { return (i * shape_.rows + cells_.rows - 1) / cells_.rows; }
  [[nodiscard]] Index first_column(Index i) const { return (i * shape_.columns + cells_.columns - 1) / cells_.columns; }

  void add(Index row, Index column, double number) {
    raise(of_row(row) + 2 * (column * cells_.columns / shape_.columns), number);
  }

  /// A whole row of elements; `number_of` tells that of each.
  template <class T, class Number>
  void add_row(Index row, std::span<const T> elements, Number number_of) {
    double* cell = of_row(row);
    for (Index c = 0; c < cells_.columns; ++c, cell += 2) {
      for (Index j = first_column(c); j < first_column(c + 1); ++j) {
        raise(cell, number_of(elements[static_cast<std::size_t>(j)]));
      }
    }
  }

  /// Instead of `add`, where a cell is to show the sum of its positive or negative numbers, whichever is larger.
  void add_up(Index row, Index column, double number) {
    of_row(row)[2 * (column * cells_.columns / shape_.columns) + (number < 0 ? 1 : 0)] += number < 0 ? -number : number;
  }

  /// What all ranks have added, on each of them. Collective over `context`.
  void unite(const mpi::Context& context);

 private:
  [[nodiscard]] double* of_row(Index row) {
    return sizes_.data() + 2 * (row * cells_.rows / shape_.rows) * cells_.columns;
  }
  static void raise(double* cell, double number) {
    cell[0] = std::max(cell[0], number);
    cell[1] = std::max(cell[1], -number);
  }

  Scale scale_ = Scale::logarithmic;
  layout::Shape shape_{};
  layout::Shape cells_{};
  std::vector<double> sizes_;  // by cell: the largest of the positive numbers, and of the negative ones
};

/// Eight shades for positive numbers and eight for negative ones. On a logarithmic scale each is of a factor of ten or,
/// where numbers differ by less, a smaller one. On a linear one all are alike, from 0 on where there are both signs,
/// else from the least size on.
class Shading {
 public:
  static constexpr int shades = 8;

  explicit Shading(std::span<const MatrixPicture> pictures);

  /// From -8 to 8; 0 is not drawn: what is 0 or small on a logarithmic scale. On a linear one it is grey: no elements.
  [[nodiscard]] int of(double number) const;
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] bool is_linear() const { return is_linear_; }
  /// Whether there is more than one size.
  [[nodiscard]] bool has_steps() const { return step_ > 0; }
  /// Of a step: what sizes grow by, as a factor or a difference.
  [[nodiscard]] double step() const { return is_linear_ ? step_ : std::pow(10.0, step_); }
  /// The least size of a shade.
  [[nodiscard]] double least_of(int shade) const;
  [[nodiscard]] bool has_negative() const { return has_negative_; }
  [[nodiscard]] bool has_positive() const { return has_positive_; }

 private:
  bool is_linear_ = false;
  double largest_ = 0;
  double step_ = 1;  // of sizes, or of their decimal logarithms
  bool has_positive_ = false;
  bool has_negative_ = false;
};

/// What the rows, columns and numbers of a picture are called.
struct CellWords {
  std::string_view down = "row";
  std::string_view across = "column";
  std::string_view positive = "positive";
  std::string_view negative = "negative";
  std::function<std::string(double)> number{};  // three digits, with the unit
};

/// The cells of a picture in a frame with ticks, and what they are to who points at them.
[[nodiscard]] std::string cells_svg(const MatrixPicture& picture, const Shading& shading, const CellWords& words,
                                    double left, double top, double width, double height);

/// The shades, one below the other, and from which size on each is used.
[[nodiscard]] std::string scale_svg(const Shading& shading, const CellWords& words, double left, double top);

/// The picture as HTML, with a scale and a caption. Empty for a matrix without elements.
///
/// \param what  "the density matrix"
/// \param tall  the height of an element of width 1
[[nodiscard]] std::string drawn(const MatrixPicture& picture, std::string_view what, CellWords words = {},
                                double tall = 1);

/// Numbers on a regular grid of one to three dimensions, as a page shows them: a curve, a picture, or a picture of the
/// middle slice of axis 0. They come in any order, on whichever rank has them.
class FieldPicture {
 public:
  FieldPicture() = default;
  /// \param spacing  of points, for each axis; empty: 1
  explicit FieldPicture(std::span<const Index> extents, std::span<const double> spacing = {});

  /// \param place  axes that the grid has not stand in front, and have point 0 alone
  void add(const std::array<Index, 3>& place, double number);
  /// Of points from `first` on, those of the last axis one after the other.
  void add_all(Index first, std::span<const double> numbers);
  /// What all ranks have added, on each of them. Collective over `context`.
  void unite(const mpi::Context& context) { picture_.unite(context); }

  /// A section of a page.
  ///
  /// \param what  the numbers are: "u"
  [[nodiscard]] std::string figure(const std::string& what) const;

 private:
  [[nodiscard]] std::string curve(const std::string& what) const;

  int dimensions_ = 0;
  std::array<Index, 3> extents_{1, 1, 1};  // those that there are behind the others
  std::array<double, 3> spacing_{1, 1, 1};
  MatrixPicture picture_;  // a column of a curve
};

}  // namespace plait::cli
