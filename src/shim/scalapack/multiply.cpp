#include "shim/scalapack/multiply.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/simd/reduce/element_of.hpp"

#include "shim/scalapack/blacs.hpp"
#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/grid.hpp"
#include "shim/scalapack/matrix.hpp"
#include "shim/scalapack/pblas.hpp"
#include "shim/scalapack/products.hpp"

namespace plait::shim::scalapack {

namespace {

using redistribute::Op;

/// One of the three matrices: what all processes know of it, and this one's memory.
struct Operand {
  Descriptor descriptor;
  Submatrix part;
  int rows;
  int columns;

  [[nodiscard]] layout::Layout layout(const ProcessMap& map) const { return layout_of(part, rows, columns, map); }
  template <class T>
  [[nodiscard]] std::vector<matrix_view<T>> tiles(const ProcessMap& map, int rank, T* array) const {
    return local_tiles(layout(map), rank, array, descriptor.leading_dimension);
  }
};

template <class T>
Operand operand(const Given<T>& given, Op op, int rows, int columns) {
  const Descriptor d = descriptor(given.desc);
  if (redistribute::transposes(op)) std::swap(rows, columns);
  return {d, submatrix(d, given.i, given.j), rows, columns};
}

struct Operands {
  Op op_a, op_b;
  Operand a, b, c;
};

template <class T>
Operands operands_of(const MultiplyCall<T>& call) {
  const Op op_a = op_on<T>(op_of(call.trans_a));
  const Op op_b = op_on<T>(op_of(call.trans_b));
  return {op_a, op_b, operand(call.a, op_a, call.m, call.k), operand(call.b, op_b, call.k, call.n),
          operand(call.c, Op::identity, call.m, call.n)};
}

template <class T>
ProductCache::Key key_of(const Operands& of, const MultiplyCall<T>& call) {
  ProductCache::Key key{static_cast<Index>(simd::element_of<T>()),
                        static_cast<Index>(of.op_a),
                        static_cast<Index>(of.op_b),
                        call.m,
                        call.n,
                        call.k};
  for (const Operand* one : {&of.a, &of.b, &of.c}) append(key, one->part.numbers());
  return key;
}

template <class T>
std::unique_ptr<ProductOf<T>> planned_product(Grid& grid, const Operands& of) {
  try {
    const dense::Factors factors{of.a.layout(grid.map()), of.b.layout(grid.map()), of.op_a, of.op_b};
    return std::make_unique<ProductOf<T>>(dense::Multiplication<T>(grid.context(), factors, of.c.layout(grid.map())));
  } catch (const Error& error) {
    throw PassOn{error.what()};
  }
}

template <class T>
void execute(ProductOf<T>& known, Grid& grid, const Operands& of, const MultiplyCall<T>& call) {
  using redistribute::Agreement;
  const int rank = grid.context().rank();
  dense::Multiplication<T>& product = known.product;
  try {
    product.execute(call.alpha, of.a.tiles(grid.map(), rank, call.a.array), of.b.tiles(grid.map(), rank, call.b.array),
                    call.beta, of.c.tiles(grid.map(), rank, call.c.array),
                    known.is_proven ? Agreement::reached : Agreement::needed);
    known.is_proven = true;
    if (!keeps_memory(product.choice())) product.release_memory();
  } catch (const std::exception& error) {
    end_program(error.what());  // C may have been written to
  }
}

}  // namespace

template <class T>
void multiply(const MultiplyCall<T>& call) {
  const Operands of = operands_of(call);
  const GridInfo info = grid_info(of.a.descriptor.context);
  for (const Operand* one : {&of.b, &of.c}) {
    if (one->descriptor.context != of.a.descriptor.context) throw PassOn{refused_arguments};
  }
  if (!info.member()) throw PassOn{refused_arguments};
  for (const Operand* one : {&of.a, &of.b, &of.c}) {
    expect_servable(one->descriptor, one->part, one->rows, one->columns, info);
  }
  const bool adds_nothing = call.alpha == T{0} || call.k == 0;
  if (call.m == 0 || call.n == 0 || (adds_nothing && call.beta == T{1})) return;
  if (adds_nothing) {
    return scale(call.beta, of.c.part, call.m, call.n, info, call.c.array, of.c.descriptor.leading_dimension);
  }

  Grid& grid = grid_of(of.a.descriptor.context, info);
  if (!is_as_large(call.m, call.n, call.k, grid.least_order())) {
    throw PassOn{fmt::format("less work than with matrices of order {}",
                             asked_order(call.m, call.n, call.k, grid.least_order()))};
  }
  ProductCache::Key key = key_of(of, call);
  if (CachedProduct* const known = grid.products().find(key)) {
    return execute(*static_cast<ProductOf<T>*>(known), grid, of, call);
  }
  std::unique_ptr<ProductOf<T>> made = planned_product<T>(grid, of);
  const dense::Factors factors{of.a.layout(grid.map()), of.b.layout(grid.map()), of.op_a, of.op_b};
  const Index bytes = estimated_bytes(made->product.choice(), factors, of.c.layout(grid.map()));
  ProductOf<T>& product = *made;
  if (bytes <= ProductCache::most_bytes) grid.products().keep(std::move(key), std::move(made), bytes);
  execute(product, grid, of, call);
}

template void multiply(const MultiplyCall<float>&);
template void multiply(const MultiplyCall<double>&);
template void multiply(const MultiplyCall<std::complex<float>>&);
template void multiply(const MultiplyCall<std::complex<double>>&);

}  // namespace plait::shim::scalapack
