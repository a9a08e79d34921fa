#include "plait/sinkhorn/grid/grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/layout/axis.hpp"
#include "plait/model/choice.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/methods.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

namespace {

/// Of an allreduce of `bytes` by groups of so many ranks, as many of each on a node, while `groups` of them share the
/// links of a node.
double allreduce_seconds(const model::Machine& machine, int ranks, int ranks_per_node, int groups, Index bytes) {
  if (ranks == 1 || bytes == 0) return 0;
  const model::Placement placement{ranks, ranks_per_node};
  const Index shared = placement.nodes() > 1 ? bytes * groups : bytes;
  return model::choose<model::AllreduceAlgorithm>(machine, placement, shared).seconds;
}

Index divided(Index number, int parts) { return (number + parts - 1) / parts; }

/// Where part `part` of an even axis begins; of one that is empty, anywhere inside.
Index begin_of(const layout::Axis& axis, Index part) {
  return axis.local_extent(part) == 0 ? 0 : axis.global_of(part, 0);
}

/// \throws ArgumentError  a grid that has not as many positions as there are ranks, or several layers
void expect_grid_of(const layout::ProcessGrid& grid, int ranks) {
  if (grid.rows >= 1 && grid.columns >= 1 && grid.layers == 1 && grid.ranks() == ranks) return;
  throw ArgumentError(
      fmt::format("a grid of {} x {} ranks, expected rows x columns = {}", grid.rows, grid.columns, ranks));
}

}  // namespace

double seconds_on(const layout::ProcessGrid& grid, const model::Machine& machine, const model::Placement& placement,
                  layout::Shape shape, Index element_bytes, Index number_bytes) {
  const Index rows = divided(shape.rows, grid.rows);
  const Index columns = divided(shape.columns, grid.columns);
  const int on_node = std::min(placement.ranks_per_node, placement.ranks);
  const double reads = grid.columns > 1 ? 2 : 1;
  const double read = reads * static_cast<double>(rows) * static_cast<double>(columns) *
                      static_cast<double>(element_bytes) * on_node / machine.read_bytes_per_second;
  // Ranks that follow each other share a node: as many of one row (column) of the grid, and of as many of these.
  const bool by_rows = grid.order == layout::GridOrder::row;
  const int near = std::min(on_node, by_rows ? grid.columns : grid.rows);
  const int far = std::max(1, on_node / near);
  const int of_row = by_rows ? near : std::min(far, grid.columns);
  const int of_column = by_rows ? std::min(far, grid.rows) : near;
  return read + allreduce_seconds(machine, grid.columns, of_row, of_column, rows * number_bytes) +
         allreduce_seconds(machine, grid.rows, of_column, of_row, columns * number_bytes);
}

layout::ProcessGrid choose_grid(const model::Machine& machine, const model::Placement& placement, layout::Shape shape,
                                Index element_bytes, Index number_bytes) {
  layout::ProcessGrid best{placement.ranks, 1};
  double least = seconds_on(best, machine, placement, shape, element_bytes, number_bytes);
  for (int columns = 2; columns <= placement.ranks; ++columns) {
    if (placement.ranks % columns != 0) continue;
    const layout::ProcessGrid grid{placement.ranks / columns, columns};
    const double seconds = seconds_on(grid, machine, placement, shape, element_bytes, number_bytes);
    if (seconds >= 0.99 * least) continue;
    best = grid;
    least = seconds;
  }
  return best;
}

BlockPlace block_place(const layout::ProcessGrid& grid, layout::Shape shape, int rank) {
  const auto rows = layout::Axis::even(shape.rows, grid.rows);
  const auto columns = layout::Axis::even(shape.columns, grid.columns);
  const int row = grid.row_of(rank);
  const int column = grid.column_of(rank);
  return {begin_of(rows, row), rows.local_extent(row), begin_of(columns, column), columns.local_extent(column)};
}

namespace {

/// The ranks of this rank's row of the grid, and of its column.
struct GridContexts {
  GridContexts(mpi::Context& context, const layout::ProcessGrid& grid)
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
  expect_row_major(block, "the block is");
}

/// As `checked_marginals`, of marginals of all rows and columns. Collective over `context`.
///
/// \pre     there is none for rows, or one for each
/// \return  those of this rank's block's rows, and of all columns
CheckedMarginals checked_grid_marginals(mpi::Context& context, const layout::ProcessGrid& grid, layout::Shape shape,
                                        const Marginals& marginals) {
  // As if each rank had whole rows, nearly as many.
  const auto rows = layout::Axis::even(shape.rows, context.size());
  const Index own = rows.local_extent(context.rank());
  const auto own_rows =
      marginals.rows.empty()
          ? std::span<const double>()
          : marginals.rows.subspan(static_cast<std::size_t>(own == 0 ? 0 : rows.global_of(context.rank(), 0)),
                                   static_cast<std::size_t>(own));
  CheckedMarginals checked = checked_marginals(context, own, shape.columns, {own_rows, marginals.columns});
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

/// A block of a grid, which is swept twice, by several threads. Rows go through one kernel at a time, whose reads the
/// processor foresees. Of one problem.
template <class T, class A>
class BlockRows {
 public:
  BlockRows(mpi::Context& context, const Columns& part, matrix_view<const T> block)
      : part_(part),
        block_(block),
        over_row_(*part.of_row, block.rows()),
        errors_over_row_(*part.of_row, part.of_row->size()),
        slabs_(mpi::agreed(context, [&] {
          row_sums_.resize(static_cast<std::size_t>(block.rows()));
          errors_.resize(static_cast<std::size_t>(part.of_row->size()));
          return Slabs<A>(block.rows(), block.columns(), block.rows() * block.columns(), 1,
                          context.topology().threads());
        })) {}

  [[nodiscard]] Index columns() const noexcept { return block_.columns(); }
  [[nodiscard]] mpi::Context& column_context(mpi::Context& /*all*/) const noexcept { return *part_.of_column; }

  template <class F>
  void sweep(std::span<const BatchVectors<A>> problems, std::span<RowsSwept> swept, const F& f) {
    constexpr Index step = simd::most_rows_at_a_time;
    const BatchVectors<A>& of = problems[0];
#pragma omp parallel for schedule(static) num_threads(slabs_.threads()) if (slabs_.threads() > 1)
    for (Index first = 0; first < block_.rows(); first += step) {
      kernels_.row_sums(block_of(block_, first, std::min(step, block_.rows() - first)), of.v, row_sums_.data() + first,
                        {});
    }
    over_row_(row_sums_);
    for (Index i = 0; i < block_.rows(); ++i) {
      of.u[i] = f(std::size_t{0}, i, row_sums_[static_cast<std::size_t>(i)], swept[0]);
    }
    const auto work = [&](const Slab<A>& slab) {
      for (Index first = slab.first; first < slab.first + slab.count; first += step) {
        kernels_.column_sums(block_of(block_, first, std::min(step, slab.first + slab.count - first)), of.u + first,
                             slab.memory.data(), {});
      }
    };
    slabs_.sweep(1, work, [&](std::size_t) { return SumsOfSlabs<A>{of.sums, swept[0]}; });
  }

  /// Errors become those of all columns, the same on all ranks, though each row of the grid sums up in its own way: to
  /// the error of a rank's columns it only adds zeros.
  void agree(std::span<Found> found) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    for (Found& one : found) {
      std::ranges::fill(errors_, 0.0);
      errors_[static_cast<std::size_t>(part_.of_row->rank())] = one.is_out_of_range ? none : one.error;
      errors_over_row_(errors_);
      one.error = std::accumulate(errors_.begin(), errors_.end(), 0.0);
      one.is_out_of_range = !std::isfinite(one.error);
    }
  }

  [[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& context, std::span<const RowHeights> problems) {
    return sinkhorn::feasibility<T>(context, block_, Support::positive, problems, part_);
  }
  [[nodiscard]] std::string at_limit() const { return {}; }

 private:
  Columns part_;
  matrix_view<const T> block_;
  SumOverRanks<A> over_row_;
  SumOverRanks<double> errors_over_row_;
  std::vector<A> row_sums_;
  std::vector<double> errors_;  // of the columns of each rank of the row; no number where any has no factor
  Slabs<A> slabs_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
};

/// Of a grid of one column: the ranks hold whole rows.
template <class T, class A>
Scaling<A> scale_by_rows(mpi::Context& context, const BlockPlace& place, matrix_view<const T> block,
                         const Marginals& marginals, const Limits& limits, std::span<const A> start) {
  std::span<const double> rows;
  if (!marginals.rows.empty()) {
    rows = marginals.rows.subspan(static_cast<std::size_t>(place.first_row), static_cast<std::size_t>(place.rows));
  }
  return scale<T, A>(context, block, {rows, marginals.columns}, limits, start);
}

}  // namespace

template <class T, class A>
Scaling<A> scale_on_grid(mpi::Context& context, const layout::ProcessGrid& grid, layout::Shape shape,
                         matrix_view<const T> block, const Marginals& marginals, const Limits& limits,
                         std::span<const A> start) {
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
  mpi::agreed(context, [&](mpi::Alike& arguments) { expect_start<A>(start, checked.columns, "factor", 0, arguments); });
  GridContexts contexts(context, grid);
  const Columns part{place.first_column, &contexts.row, &contexts.column};
  check_matrix<T>(context, block, {&checked, 1}, part);
  std::vector<Factors<A>> factors;
  mpi::agreed(context, [&] {
    const auto first = static_cast<std::size_t>(place.first_column);
    const auto columns = static_cast<std::size_t>(place.columns);
    factors.emplace_back(checked.rows, std::span(checked.columns).subspan(first, columns));
    if (!start.empty()) factors.front().begin_with(start.subspan(first, columns));
  });
  BlockRows<T, A> rows(context, part, block);
  FactorMethod<A, BlockRows<T, A>> method(context, std::span(&checked, 1), rows, std::move(factors), {});
  auto outcomes = iterated(context, method, limits, {roundoff_of<A>()});
  Factors<A>& found = method.factors().front();
  return {std::move(outcomes.front()), std::move(found.u), std::move(found.v)};
}

#define PLAIT_INSTANTIATE(T, A)                                                                                     \
  template Scaling<A> scale_on_grid(mpi::Context&, const layout::ProcessGrid&, layout::Shape, matrix_view<const T>, \
                                    const Marginals&, const Limits&, std::span<const A>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
