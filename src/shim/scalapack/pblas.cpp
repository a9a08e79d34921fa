#include "shim/scalapack/pblas.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/simd/reduce/element_of.hpp"

#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/grid.hpp"
#include "shim/scalapack/plan_cache.hpp"

namespace plait::shim::scalapack {

namespace {

using redistribute::Op;
using redistribute::Trapezoid;

/// \throws PassOn  for a matrix that can't be served; on one process only where its leading dimension is too small: the
///                 real routine ends the program then
void expect_servable(const Descriptor& d, const Submatrix& part, int rows, int columns, const GridInfo& grid) {
  if (d.type != Descriptor::block_cyclic) throw PassOn{other_type};
  std::string why = why_not(part, rows, columns, grid.rows, grid.columns);
  if (why.empty() && !pblas_leading_dimension_fits(d, grid)) why = refused_arguments;
  if (!why.empty()) throw PassOn{why};
}

/// C(ic:, jc:) ← beta·C(ic:, jc:), a part of m x n elements, or a trapezoid of it; without reading it if beta is 0.
/// Local.
/// \param array  this process's, of the whole matrix
template <class T>
void scale(std::type_identity_t<T> beta, const Submatrix& c, int m, int n, const GridInfo& grid, T* array,
           int leading_dimension, const std::optional<Trapezoid>& part = {}) {
  const layout::Axis rows = row_axis(c, m, grid.rows);
  const layout::Axis columns = column_axis(c, n, grid.columns);
  const matrix_view<T> tile = local_part(rows, grid.my_row, columns, grid.my_column, array, leading_dimension);
  if (tile.empty()) return;
  const bool clears = beta == T{0};
  const auto scale_column = [&](Index local_column, Index column) {
    rows.for_each_segment(grid.my_row, [&](const layout::Segment& run) {
      const Index last = run.global + run.length;
      const auto [begin, end] = part ? part->rows_of(column, run.global, last) : Trapezoid::Rows{run.global, last};
      for (Index row = begin; row < end; ++row) {
        T& element = tile(run.local + row - run.global, local_column);
        element = clears ? T{0} : beta * element;
      }
    });
  };
  columns.for_each_segment(grid.my_column, [&](const layout::Segment& run) {
    for (Index k = 0; k < run.length; ++k) scale_column(run.local + k, run.global + k);
  });
}

template <class T>
PlanCache::Key key_of(const AddCall<T>& call, Op op, const Submatrix& a, const Submatrix& c, const ProcessMap& map) {
  PlanCache::Key key{PlanCache::add, static_cast<Index>(op), call.m, call.n};
  append(key, call.part);
  append(key, a.numbers());
  append(key, c.numbers());
  append(key, map);
  return key;
}

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

Op op_of(char trans) {
  switch (trans) {
    case 'N':
    case 'n': return Op::identity;
    case 'T':
    case 't': return Op::transpose;
    case 'C':
    case 'c': return Op::conjugate_transpose;
    default: throw PassOn{refused_arguments};
  }
}

template <class T>
void add(const AddCall<T>& call, Op named) {
  const Op op = op_on<T>(named);
  const Descriptor desc_a = descriptor(call.a.desc);
  const Descriptor desc_c = descriptor(call.c.desc);
  const GridInfo grid = grid_info(desc_a.context);
  if (!grid.member() || desc_a.context != desc_c.context) throw PassOn{refused_arguments};
  const Submatrix a = submatrix(desc_a, call.a.i, call.a.j);
  const Submatrix c = submatrix(desc_c, call.c.i, call.c.j);
  const layout::Shape shape_a = redistribute::apply(op, {call.m, call.n});
  const int a_rows = static_cast<int>(shape_a.rows), a_columns = static_cast<int>(shape_a.columns);
  expect_servable(desc_a, a, a_rows, a_columns, grid);
  expect_servable(desc_c, c, call.m, call.n, grid);
  if (call.m == 0 || call.n == 0 || (call.alpha == T{0} && call.beta == T{1})) return;
  if (call.alpha == T{0}) {
    return scale(call.beta, c, call.m, call.n, grid, call.c.array, desc_c.leading_dimension, call.part);
  }

  Grid& processes = grid_of(desc_a.context, grid);
  CachedPlan& plan = planned(processes.team(), key_of(call, op, a, c, processes.map()), [&] {
    return redistribute::MatrixPair{layout_of(a, a_rows, a_columns, processes.map()),
                                    layout_of(c, call.m, call.n, processes.map()), op, call.part};
  });
  execute_on<T>(plan, processes.context().rank(), call.a.array, desc_a.leading_dimension, call.c.array,
                desc_c.leading_dimension, [&](const Tiles<T>& tiles) {
                  return redistribute::Operands(call.alpha, tiles.source(), call.beta, tiles.target());
                });
}

template void add(const AddCall<float>&, Op);
template void add(const AddCall<double>&, Op);
template void add(const AddCall<std::complex<float>>&, Op);
template void add(const AddCall<std::complex<double>>&, Op);

Trapezoid triangle_of(char uplo) {
  using enum Trapezoid::Side;
  switch (uplo) {
    case 'U':
    case 'u': return {upper, 0};
    case 'L':
    case 'l': return {lower, 0};
    default: throw PassOn{refused_arguments};
  }
}

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
