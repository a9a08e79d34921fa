#include "plait/dense/symm_products.hpp"

#include <algorithm>
#include <complex>

#include "plait/base/matrix_view.hpp"
#include "plait/dense/blas.hpp"
#include "plait/simd/transpose.hpp"

namespace plait::dense {

namespace {

template <class T>
matrix_view<const T> view(ConstBlock block) {
  return {reinterpret_cast<const T*>(block.data), block.rows, block.columns, block.leading_dimension};
}
template <class T>
matrix_view<T> view(Block block) {
  return {reinterpret_cast<T*>(block.data), block.rows, block.columns, block.leading_dimension};
}

Op op(bool transposes) { return transposes ? Op::conjugate_transpose : Op::identity; }

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

template <Element T>
SymmProducts make_products(mpi::Reduction sum) {
  return {
      .element_bytes = Index{sizeof(T)},
      .sum = sum,
      .multiply =
          [](bool transposes_a, ConstBlock a, bool transposes_b, ConstBlock b, Block c) {
            gemm<T>(op(transposes_a), op(transposes_b), T{1}, view<T>(a), view<T>(b), T{0}, view<T>(c));
          },
      .multiply_lower =
          [](bool transposes_a, ConstBlock a, bool transposes_b, ConstBlock b, Block c) {
            gemmt<T>(Triangle::lower, op(transposes_a), op(transposes_b), T{1}, view<T>(a), view<T>(b), T{0},
                     view<T>(c));
          },
      .mirror = mirror<T>,
  };
}

}  // namespace

template <Element T>
const SymmProducts& symm_products() {
  static const SymmProducts products = make_products<T>(mpi::reduction<T>(mpi::Operation::sum()));
  return products;
}

template const SymmProducts& symm_products<float>();
template const SymmProducts& symm_products<double>();
template const SymmProducts& symm_products<std::complex<float>>();
template const SymmProducts& symm_products<std::complex<double>>();

}  // namespace plait::dense
