#include "plait/dense/symm/products.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <utility>

#include "plait/base/complex.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/rounding.hpp"

namespace plait::dense::symm {

namespace {

constexpr Index least_columns = 128;  // which BLAS needs to be fast
constexpr Index multiplications_of_step = Index{1} << 24;

template <class T>
void mirror_block(Index rows, Index columns, const std::byte* from, std::byte* to, Index stride) {
  mirror<T>({reinterpret_cast<const T*>(from), rows, columns, std::max<Index>(1, rows)},
            matrix_view<T>(reinterpret_cast<T*>(to), columns, rows, stride));
}

template <class T>
void mirror_lower(Index n, Index first, Index last, const std::byte* panel, std::byte* whole) {
  const Index width = last - first;
  const Index below = n - last;
  const matrix_view<const T> from(reinterpret_cast<const T*>(panel), n - first, width, std::max<Index>(1, n - first));
  const matrix_view<T> to(reinterpret_cast<T*>(whole), n, n, std::max<Index>(1, n));
  for (Index column = 0; column < width; ++column) {
    const Index diagonal = first + column;
    std::copy_n(&from(column, column), from.rows() - column, &to(diagonal, diagonal));
    if constexpr (is_complex<T>) to(diagonal, diagonal) = std::real(from(column, column));
    for (Index row = column + 1; row < width; ++row) to(diagonal, first + row) = conjugated(from(row, column));
  }
  if (below > 0) mirror<T>(from.part(width, 0, below, width), to.part(first, last, width, below));
}

template <class T>
constexpr std::array<T, 2> numbers{T{0}, T{1}};

}  // namespace

template <Field T>
const Products& products_of() {
  static const Products products{
      .kind = element_kind<T>(),
      .zero = &numbers<T>[0],
      .one = &numbers<T>[1],
      .sum = mpi::reduction<T>(mpi::Operation::sum()),
      .combine = mpi::reduction<T>(mpi::Operation::sum()),
      .mirror = mirror_block<T>,
      .mirror_lower = mirror_lower<T>,
  };
  return products;
}

template const Products& products_of<float>();
template const Products& products_of<double>();
template const Products& products_of<std::complex<float>>();
template const Products& products_of<std::complex<double>>();

void BlockProduct::multiply(const Products& products, const std::byte* block_a, const std::byte* block_b,
                            std::byte* block_c, Index first, Index count) const {
  const Index bytes = products.element_bytes();
  const auto factor = [](Op op, const std::byte* block, Index its_rows, Index its_columns) {
    return op == Op::identity ? LocalFactor{block, std::max<Index>(1, its_rows), StorageOrder::column_major}
                              : LocalFactor{block, std::max<Index>(1, its_columns), StorageOrder::row_major, true};
  };
  products.kind.multiply({.rows = rows,
                          .columns = count,
                          .terms = inner,
                          .a = factor(op_a, block_a, rows, inner),
                          .b = factor(op_b, block_b, inner, columns).from(0, first, bytes),
                          .c = block_c + first * rows * bytes,
                          .c_stride = std::max<Index>(1, rows),
                          .c_order = StorageOrder::column_major,
                          .alpha = products.one,
                          .beta = adds ? nullptr : products.zero});
}

schedule::OperationId BlockProduct::append(schedule::Graph& graph, schedule::Position position,
                                           const Products& products, schedule::Dependencies after) const {
  const Index width = std::max(least_columns, multiplications_of_step / std::max<Index>(1, rows * inner));
  const auto f = [product = *this, &products, width](const schedule::Run& run, Index step) {
    const auto address = [&](const schedule::Range& range) { return run.address(range.slot, range.offset); };
    const Index first = step * width;
    product.multiply(products, address(product.a), address(product.b), address(product.c), first,
                     std::min(width, product.columns - first));
  };
  const Index steps = rows == 0 ? 0 : quotient_up(columns, width);
  return graph.compute(position, steps, f, {a.slot, b.slot, c.slot}, std::move(after));
}

}  // namespace plait::dense::symm
