#include "shim/scalapack/add.hpp"

#include "shim/scalapack/blacs.hpp"
#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/grid.hpp"
#include "shim/scalapack/matrix.hpp"
#include "shim/scalapack/pblas.hpp"

namespace plait::shim::scalapack {

namespace {

using redistribute::Op;

template <class T>
PlanCache::Key key_of(const AddCall<T>& call, Op op, const Submatrix& a, const Submatrix& c, const ProcessMap& map) {
  PlanCache::Key key{PlanCache::add, static_cast<Index>(op), call.m, call.n};
  append(key, call.part);
  append(key, a.numbers());
  append(key, c.numbers());
  append(key, map);
  return key;
}

}  // namespace

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

redistribute::Trapezoid triangle_of(char uplo) {
  using enum redistribute::Trapezoid::Side;
  switch (uplo) {
    case 'U':
    case 'u': return {upper, 0};
    case 'L':
    case 'l': return {lower, 0};
    default: throw PassOn{refused_arguments};
  }
}

}  // namespace plait::shim::scalapack
