#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <vector>

#include "plait/base/complex.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/random.hpp"
#include "plait/layout/shape.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::test {

/// Small integers (and i times such), whose sums of products are exact in any order.
template <class T>
T small_number(std::uint64_t seed, Index row, Index column) {
  const auto part = [&](std::uint64_t which) {
    const auto counter = static_cast<std::uint64_t>(row) * 1'000'003U + static_cast<std::uint64_t>(column) * 2 + which;
    return static_cast<double>(random_bits(seed, counter) % 7) - 3;
  };
  if constexpr (is_complex<T>) {
    using Part = typename T::value_type;
    return {static_cast<Part>(part(0)), static_cast<Part>(part(1))};
  } else {
    return static_cast<T>(part(0));
  }
}

/// All of a matrix of small numbers, on every rank.
template <class T>
struct Whole {
  Whole(std::uint64_t seed, layout::Shape shape)
      : memory(static_cast<std::size_t>(shape.rows * shape.columns)),
        view(memory.data(), shape.rows, shape.columns, std::max(Index{1}, shape.rows)) {
    for (Index j = 0; j < shape.columns; ++j) {
      for (Index i = 0; i < shape.rows; ++i) view(i, j) = small_number<T>(seed, i, j);
    }
  }
  std::vector<T> memory;
  matrix_view<T> view;
};

template <class T>
T element_of(redistribute::Op op, const matrix_view<const T>& matrix, Index row, Index column) {
  const T value = redistribute::transposes(op) ? matrix(column, row) : matrix(row, column);
  if constexpr (is_complex<T>) {
    return redistribute::conjugates(op) ? std::conj(value) : value;
  } else {
    return value;
  }
}

/// C ← alpha·op(A)·op(B) + beta·C, as it is written down. `beta == 0` overwrites.
template <class T>
void naive_gemm(redistribute::Op op_a, redistribute::Op op_b, T alpha, const matrix_view<const T>& a,
                const matrix_view<const T>& b, T beta, const matrix_view<T>& c) {
  const Index terms = redistribute::transposes(op_a) ? a.rows() : a.columns();
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < c.columns(); ++j) {
      T sum{0};
      for (Index k = 0; k < terms; ++k) sum += element_of(op_a, a, i, k) * element_of(op_b, b, k, j);
      c(i, j) = beta == T{0} ? alpha * sum : alpha * sum + beta * c(i, j);
    }
  }
}

}  // namespace plait::test
