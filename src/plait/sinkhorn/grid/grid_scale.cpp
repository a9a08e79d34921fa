#include "plait/sinkhorn/grid/grid_scale.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/grid/grid_check.hpp"
#include "plait/sinkhorn/grid/grid_sweep.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/scaling/scaling_run.hpp"

namespace plait::sinkhorn {

namespace {

/// The ranks of this rank's row of the grid, and of its column.
struct GridContexts {
  GridContexts(mpi::Context& context, const Grid& grid)
      : row(context.comm().split(grid.row_of(context.rank()), grid.column_of(context.rank())).handle()),
        column(context.comm().split(grid.column_of(context.rank()), grid.row_of(context.rank())).handle()) {
    row.use_machine(context.machine());
    column.use_machine(context.machine());
  }

  mpi::Context row;
  mpi::Context column;
};

template <class T>
void expect_block(const BlockPlace& place, matrix_view<const T> block) {
  if (block.rows() != place.rows || block.columns() != place.columns) {
    throw ArgumentError(
        fmt::format("the block is {} x {}, expected {} x {}, this rank's part of the matrix on the grid", block.rows(),
                    block.columns(), place.rows, place.columns));
  }
  if (!block.empty() && block.order() != StorageOrder::row_major) {
    throw ArgumentError("the block is column-major, expected row-major: its transpose is, with marginals exchanged");
  }
}

/// One run. The error of an iteration is known when the sums of rows of the next one have come.
template <class T, class A>
class GridRun {
 public:
  GridRun(mpi::Context& context, matrix_view<const T> block, const Columns& part, const CheckedMarginals& marginals,
          const Limits& limits, GridSweep<T, A>& sweep)
      : context_(context),
        block_(block),
        part_(part),
        marginals_(marginals),
        sweep_(sweep),
        most_iterations_(limits.most_iterations),
        course_(limits, roundoff_of<A>()) {}

  [[nodiscard]] Outcome to_the_end() {
    if (course_.is_at_limit()) return course_.at_limit();
    static_cast<void>(sweep_.find_rows());
    while (true) {
      const bool rows_have_factors = sweep_.scale_rows();
      if (!rows_have_factors) return out_of_range();
      sweep_.columns();
      const bool is_last = course_.outcome().iterations + 1 == most_iterations_;
      const GridNews news = is_last ? sweep_.find_news() : sweep_.find_rows();
      course_.took(news.error);
      if (news.starved_columns) return out_of_range();
      if (course_.is_over()) return course_.outcome();
      if (course_.is_slow() && is_infeasible()) return course_.outcome();
      if (course_.is_at_limit()) return limit_reached();
    }
  }

 private:
  [[nodiscard]] Feasibility look_for_a_proof() {
    const auto heights =
        mpi::agreed(context_, [&] { return std::vector<double>(sweep_.u().begin(), sweep_.u().end()); });
    return feasibility<T>(context_, block_, Support::positive, marginals_, heights, part_);
  }

  [[nodiscard]] bool is_infeasible() { return course_.is_proof(look_for_a_proof(), marginals_); }

  [[nodiscard]] Outcome limit_reached() {
    const Feasibility found = look_for_a_proof();
    if (course_.is_proof(found, marginals_)) return course_.outcome();
    return course_.at_limit(found, marginals_.names);
  }

  [[nodiscard]] Outcome out_of_range() {
    if (is_infeasible()) return course_.outcome();
    return course_.ended(
        Status::numerical_limit,
        fmt::format("sums of rows or columns left the range of {} after {} iterations; the logarithmic domain "
                    "(plait transport) has no such limit",
                    std::is_same_v<A, double> ? "double" : "float", course_.outcome().iterations));
  }

  mpi::Context& context_;
  matrix_view<const T> block_;
  Columns part_;
  const CheckedMarginals& marginals_;
  GridSweep<T, A>& sweep_;
  Index most_iterations_;
  Course course_;
};

/// Of a grid of one column: the ranks hold whole rows.
template <class T, class A>
Scaling<A> scale_by_rows(mpi::Context& context, const BlockPlace& place, matrix_view<const T> block,
                         const Marginals& marginals, const Limits& limits, std::span<const A> start) {
  std::span<const double> rows;
  if (!marginals.rows.empty()) {
    rows = marginals.rows.subspan(static_cast<std::size_t>(place.first_row), static_cast<std::size_t>(place.rows));
  }
  return scale<T, A>(context, block, {rows, marginals.columns, marginals.names}, limits, start);
}

}  // namespace

template <class T, class A>
Scaling<A> scale_on_grid(mpi::Context& context, const Grid& grid, layout::Shape shape, matrix_view<const T> block,
                         const Marginals& marginals, const Limits& limits, std::span<const A> start) {
  const BlockPlace place = mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("rows of the grid", grid.rows);
    arguments.add("columns of the grid", grid.columns);
    arguments.add("rows of the matrix", shape.rows);
    arguments.add("columns of the matrix", shape.columns);
    name_arguments(limits, arguments);
    expect_grid_of(grid, context.size());
    const BlockPlace found = block_place(grid, shape, context.rank());
    expect_block(found, block);
    expect_valid(limits);
    if (grid.columns > 1 && (limits.checkpoints.keep || limits.checkpoints.from != nullptr)) {
      throw ArgumentError(
          fmt::format("a state of a grid of {} columns is wanted, expected one of whole rows", grid.columns));
    }
    if (!marginals.rows.empty() && static_cast<Index>(marginals.rows.size()) != shape.rows) {
      throw ArgumentError(fmt::format("marginals of {} rows are given, expected {}, as many as the matrix has",
                                      marginals.rows.size(), shape.rows));
    }
    return found;
  });
  if (grid.columns == 1) return scale_by_rows<T, A>(context, place, block, marginals, limits, start);

  const CheckedMarginals checked = checked_grid_marginals(context, grid, shape, marginals);
  mpi::agreed(context, [&] { expect_factors<A>(start, checked.columns); });
  GridContexts parts(context, grid);
  check_block<T>(context, parts.row, parts.column, place, block, checked);
  GridSweep<T, A> sweep(parts.row, parts.column, place, block, checked, start);
  const Columns part{place.first_column, grid.column_of(context.rank()) == 0};
  Outcome outcome = GridRun<T, A>(context, block, part, checked, limits, sweep).to_the_end();
  auto& v = outcome.iterations > 0 ? sweep.v_before() : sweep.v();
  return {std::move(outcome), std::move(sweep.u()), std::move(v)};
}

#define PLAIT_INSTANTIATE(T, A)                                                                                        \
  template Scaling<A> scale_on_grid(mpi::Context&, const Grid&, layout::Shape, matrix_view<const T>, const Marginals&, \
                                    const Limits&, std::span<const A>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
