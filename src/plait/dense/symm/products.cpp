#include "plait/dense/symm/products.hpp"

#include <algorithm>
#include <complex>

#include "plait/base/complex.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/simd/transform/transpose.hpp"

namespace plait::dense::symm {

namespace {

template <class T>
matrix_view<const T> view(ConstBlock block) {
  return {reinterpret_cast<const T*>(block.data), block.rows, block.columns, block.leading_dimension};
}
template <class T>
matrix_view<T> view(Block block) {
  return {reinterpret_cast<T*>(block.data), block.rows, block.columns, block.leading_dimension};
}

template <class T, int beta>
void multiply(Op op_a, ConstBlock a, Op op_b, ConstBlock b, Block c) {
  gemm<T>(op_a, op_b, T{1}, view<T>(a), view<T>(b), T{beta}, view<T>(c));
}

template <class T>
void mirror(ConstBlock from, Block to) {
  simd::transpose(from.rows, from.columns, from.data, from.leading_dimension, to.data, to.leading_dimension,
                  Index{sizeof(T)});
  if constexpr (is_complex<T>) {
    const auto target = view<T>(to);
    for (Index column = 0; column < target.columns(); ++column) {
      for (Index row = 0; row < target.rows(); ++row) target(row, column) = std::conj(target(row, column));
    }
  }
}

template <class T>
void mirror_lower(ConstBlock panel, Index first, Block whole) {
  const auto from = view<T>(panel);
  const auto to = view<T>(whole);
  const Index width = panel.columns;
  for (Index column = 0; column < width; ++column) {
    const Index diagonal = first + column;
    std::copy_n(&from(column, column), panel.rows - column, &to(diagonal, diagonal));
    if constexpr (is_complex<T>) to(diagonal, diagonal) = std::real(from(column, column));
    for (Index row = column + 1; row < width; ++row) {
      if constexpr (is_complex<T>) {
        to(diagonal, first + row) = std::conj(from(row, column));
      } else {
        to(diagonal, first + row) = from(row, column);
      }
    }
  }
  if (panel.rows == width) return;
  const auto below = from.part(width, 0, panel.rows - width, width);
  const auto right = to.part(first, first + width, width, panel.rows - width);
  mirror<T>({reinterpret_cast<const std::byte*>(below.data()), below.rows(), below.columns(), panel.leading_dimension},
            {reinterpret_cast<std::byte*>(right.data()), right.rows(), right.columns(), whole.leading_dimension});
}

template <Field T>
Products make_products(mpi::Reduction sum) {
  return {
      .element_bytes = Index{sizeof(T)},
      .sum = sum,
      .combine = sum,
      .multiply = multiply<T, 0>,
      .multiply_and_add = multiply<T, 1>,
      .mirror = mirror<T>,
      .mirror_lower = mirror_lower<T>,
  };
}

}  // namespace

template <Field T>
const Products& products_of() {
  static const Products products = make_products<T>(mpi::reduction<T>(mpi::Operation::sum()));
  return products;
}

template const Products& products_of<float>();
template const Products& products_of<double>();
template const Products& products_of<std::complex<float>>();
template const Products& products_of<std::complex<double>>();

}  // namespace plait::dense::symm
