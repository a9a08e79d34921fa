#include "shim/scalapack/pblas.hpp"

#include <string>

#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/matrix.hpp"

namespace plait::shim::scalapack {

using redistribute::Trapezoid;

redistribute::Op op_of(char trans) {
  switch (trans) {
    case 'N':
    case 'n': return redistribute::Op::identity;
    case 'T':
    case 't': return redistribute::Op::transpose;
    case 'C':
    case 'c': return redistribute::Op::conjugate_transpose;
    default: throw PassOn{refused_arguments};
  }
}

void expect_servable(const Descriptor& d, const Submatrix& part, int rows, int columns, const GridInfo& grid) {
  if (d.type != Descriptor::block_cyclic) throw PassOn{other_type};
  std::string why = why_not(part, rows, columns, grid.rows, grid.columns);
  if (why.empty() && !pblas_leading_dimension_fits(d, grid)) why = refused_arguments;
  if (!why.empty()) throw PassOn{why};
}

template <class T>
void scale(std::type_identity_t<T> beta, const Submatrix& c, int m, int n, const GridInfo& grid, T* array,
           int leading_dimension, const std::optional<Trapezoid>& part) {
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

#define PLAIT_INSTANTIATE(T) \
  template void scale<T>(T, const Submatrix&, int, int, const GridInfo&, T*, int, const std::optional<Trapezoid>&);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::shim::scalapack
