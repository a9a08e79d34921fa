#include "plait/sinkhorn/grid/grid_check.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"

namespace plait::sinkhorn {

namespace {

/// Where part `part` of an even axis begins; of one that is empty, anywhere inside.
Index begin_of(const layout::Axis& axis, Index part) {
  return axis.local_extent(part) == 0 ? 0 : axis.global_of(part, 0);
}

void expect_alive(std::string_view what, const std::vector<std::uint8_t>& alive, std::span<const double> marginals,
                  Index first) {
  for (std::size_t k = 0; k < alive.size(); ++k) {
    if (alive[k] != 0 || marginals[k] == 0) continue;
    fail_dead(what, first + static_cast<Index>(k), "only zeros", marginals[k]);
  }
}

}  // namespace

BlockPlace block_place(const Grid& grid, layout::Shape shape, int rank) {
  const auto rows = layout::Axis::even(shape.rows, grid.rows);
  const auto columns = layout::Axis::even(shape.columns, grid.columns);
  const int row = grid.row_of(rank);
  const int column = grid.column_of(rank);
  return {begin_of(rows, row), rows.local_extent(row), begin_of(columns, column), columns.local_extent(column)};
}

CheckedMarginals checked_grid_marginals(mpi::Context& context, const Grid& grid, layout::Shape shape,
                                        const Marginals& marginals) {
  // As if each rank had whole rows, nearly as many.
  const auto rows = layout::Axis::even(shape.rows, context.size());
  const Index own = rows.local_extent(context.rank());
  const auto own_rows = marginals.rows.empty()
                            ? std::span<const double>()
                            : marginals.rows.subspan(static_cast<std::size_t>(begin_of(rows, context.rank())),
                                                     static_cast<std::size_t>(own));
  CheckedMarginals checked =
      checked_marginals(context, own, shape.columns, {own_rows, marginals.columns, marginals.names});
  const BlockPlace place = block_place(grid, shape, context.rank());
  mpi::agreed(context, [&] {
    if (marginals.rows.empty()) {
      const double each = shape.rows == 0 ? 0 : checked.total / static_cast<double>(shape.rows);
      checked.rows.assign(static_cast<std::size_t>(place.rows), each);
    } else {
      const auto first = marginals.rows.begin() + static_cast<std::ptrdiff_t>(place.first_row);
      checked.rows.assign(first, first + static_cast<std::ptrdiff_t>(place.rows));
    }
  });
  checked.first_row = place.first_row;
  return checked;
}

template <class T>
void check_block(mpi::Context& context, mpi::Context& row, mpi::Context& column, const BlockPlace& place,
                 matrix_view<const T> block, const CheckedMarginals& marginals) {
  using Number = simd::FloatOf<T>;
  constexpr Number largest = std::numeric_limits<Number>::max();
  std::vector<std::uint8_t> of_rows;
  std::vector<std::uint8_t> of_columns;
  mpi::agreed(context, [&] {
    of_rows.resize(static_cast<std::size_t>(place.rows));
    of_columns.resize(static_cast<std::size_t>(place.columns));
    for (Index i = 0; i < place.rows; ++i) {
      for (Index j = 0; j < place.columns; ++j) {
        const auto entry = simd::widened<Number>(block(i, j));
        if (!(entry >= 0 && entry <= largest)) {
          throw ArgumentError(fmt::format("the entry in {} is {}, expected a finite number >= 0",
                                          marginals.names.place(place.first_row + i, place.first_column + j), entry));
        }
        const auto lives = static_cast<std::uint8_t>(entry > 0);
        of_rows[static_cast<std::size_t>(i)] |= lives;
        of_columns[static_cast<std::size_t>(j)] |= lives;
      }
    }
  });
  collective::allreduce(row, std::span(of_rows), simd::ReduceOperation::max);
  collective::allreduce(column, std::span(of_columns), simd::ReduceOperation::max);
  mpi::agreed(context, [&] {
    expect_alive(marginals.names.row(), of_rows, marginals.rows, place.first_row);
    expect_alive(marginals.names.column(), of_columns,
                 std::span(marginals.columns).subspan(static_cast<std::size_t>(place.first_column)),
                 place.first_column);
  });
}

template void check_block(mpi::Context&, mpi::Context&, mpi::Context&, const BlockPlace&, matrix_view<const double>,
                          const CheckedMarginals&);
template void check_block(mpi::Context&, mpi::Context&, mpi::Context&, const BlockPlace&, matrix_view<const float>,
                          const CheckedMarginals&);
template void check_block(mpi::Context&, mpi::Context&, mpi::Context&, const BlockPlace&,
                          matrix_view<const simd::BFloat16>, const CheckedMarginals&);

}  // namespace plait::sinkhorn
