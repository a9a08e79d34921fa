#pragma once

#include <cstddef>
#include <type_traits>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"

namespace plait {

/// Which neighbours lie side by side in memory: those of a column (Fortran, BLAS, ScaLAPACK) or those of a row (C,
/// NumPy).
enum class StorageOrder : unsigned char { column_major, row_major };

[[nodiscard]] constexpr StorageOrder flipped(StorageOrder order) noexcept {
  return order == StorageOrder::column_major ? StorageOrder::row_major : StorageOrder::column_major;
}

/// A rows × columns matrix that somebody else owns. Element (i, j) lies at `data[i + j * leading_dimension]` in
/// column-major and at `data[i * leading_dimension + j]` in row-major order.
///
/// \pre  rows >= 0 and columns >= 0
/// \pre  leading_dimension >= max(1, rows) in column-major, >= max(1, columns) in row-major order
template <class T>
class matrix_view {
 public:
  constexpr matrix_view() noexcept = default;

  constexpr matrix_view(T* data, Index rows, Index columns, Index leading_dimension,
                        StorageOrder order = StorageOrder::column_major)
      : data_(data), rows_(rows), columns_(columns), leading_dimension_(leading_dimension), order_(order) {
    PLAIT_ASSERT(rows >= 0 && columns >= 0, "a matrix has no negative extent");
    PLAIT_ASSERT(leading_dimension >= minor_extent() && leading_dimension >= 1,
                 "the leading dimension spans a column (row)");
  }

  /// A view of constant elements from one of mutable ones.
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
  constexpr matrix_view(matrix_view<U> other) noexcept  // NOLINT(google-explicit-constructor): as T* to const T*
      : data_(other.data()),
        rows_(other.rows()),
        columns_(other.columns()),
        leading_dimension_(other.leading_dimension()),
        order_(other.order()) {}

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr Index rows() const noexcept { return rows_; }
  [[nodiscard]] constexpr Index columns() const noexcept { return columns_; }
  [[nodiscard]] constexpr Index leading_dimension() const noexcept { return leading_dimension_; }
  [[nodiscard]] constexpr StorageOrder order() const noexcept { return order_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || columns_ == 0; }

  /// The extent along which neighbours lie side by side, and the other one.
  [[nodiscard]] constexpr Index minor_extent() const noexcept {
    return order_ == StorageOrder::column_major ? rows_ : columns_;
  }
  [[nodiscard]] constexpr Index major_extent() const noexcept {
    return order_ == StorageOrder::column_major ? columns_ : rows_;
  }

  /// Elements from the first to one past the last, gaps between columns (rows) included.
  [[nodiscard]] constexpr Index span() const noexcept {
    return empty() ? 0 : (major_extent() - 1) * leading_dimension_ + minor_extent();
  }

  [[nodiscard]] constexpr T& operator()(Index row, Index column) const noexcept {
    return data_[order_ == StorageOrder::column_major ? row + column * leading_dimension_
                                                      : row * leading_dimension_ + column];
  }

  /// The part that begins at (row, column); it may be empty.
  [[nodiscard]] constexpr matrix_view part(Index row, Index column, Index rows, Index columns) const {
    PLAIT_ASSERT(row >= 0 && column >= 0 && row + rows <= rows_ && column + columns <= columns_, "a part lies inside");
    T* first = rows == 0 || columns == 0 ? data_ : &(*this)(row, column);
    return matrix_view(first, rows, columns, leading_dimension_, order_);
  }

  /// The transpose of the matrix, without moving anything.
  [[nodiscard]] constexpr matrix_view transposed() const {
    return matrix_view(data_, columns_, rows_, leading_dimension_, flipped(order_));
  }

 private:
  T* data_ = nullptr;
  Index rows_ = 0;
  Index columns_ = 0;
  Index leading_dimension_ = 1;
  StorageOrder order_ = StorageOrder::column_major;
};

}  // namespace plait
