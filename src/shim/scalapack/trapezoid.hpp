#pragma once

#include <algorithm>
#include <complex>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/redistribute/element_operation.hpp"

namespace plait::shim::scalapack {

/// The elements (i, j) on one side of a diagonal and on it: i - j <= diagonal if upper, i - j >= diagonal if lower.
struct Trapezoid {
  bool upper = true;
  Index diagonal = 0;

  /// Of rows [begin, end), those of column j: from the first to one past the last.
  struct Rows {
    Index begin;
    Index end;
  };
  [[nodiscard]] constexpr Rows rows_of(Index column, Index begin, Index end) const noexcept {
    const Index at = column + diagonal;
    return upper ? Rows{begin, std::clamp(at + 1, begin, end)} : Rows{std::clamp(at, begin, end), end};
  }
};

template <class T>
[[nodiscard]] T conjugate(T value) {
  if constexpr (requires { value.imag(); }) {
    return std::conj(value);
  } else {
    return value;
  }
}

/// A ← combine(op(B), A) within the trapezoid; what lies outside of it is neither used nor written.
/// \pre  A is column-major, as all of ScaLAPACK's matrices are
template <class T, class Combine>
[[nodiscard]] redistribute::ElementOperation<T> within(Trapezoid part, Combine combine) {
  return [part, combine](matrix_view<const T> b, matrix_view<T> a, Index row, Index column) {
    const bool by_columns = b.order() == StorageOrder::column_major;
    for (Index j = 0; j < a.columns(); ++j) {
      const auto [begin, end] = part.rows_of(column + j, row, row + a.rows());
      if (begin >= end) continue;
      const T* const from = &b(begin - row, j);
      T* const to = &a(begin - row, j);
      if (by_columns) {
        for (Index i = 0; i < end - begin; ++i) combine(from[i], to[i]);
      } else {
        for (Index i = 0; i < end - begin; ++i) combine(from[i * b.leading_dimension()], to[i]);
      }
    }
  };
}

}  // namespace plait::shim::scalapack
