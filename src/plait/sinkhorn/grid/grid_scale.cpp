#include "plait/sinkhorn/grid/grid_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/grid/exact_sum.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/scaling_method.hpp"
#include "plait/sinkhorn/sweep/slabs.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

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
  if (!block.empty() && block.order() != StorageOrder::row_major) {
    throw ArgumentError("the block is column-major, expected row-major: its transpose is, with marginals exchanged");
  }
}

void expect_alive(std::string_view what, const std::vector<std::uint8_t>& alive, std::span<const double> marginals,
                  Index first) {
  for (std::size_t k = 0; k < alive.size(); ++k) {
    if (alive[k] != 0 || marginals[k] == 0) continue;
    fail_dead(what, first + static_cast<Index>(k), "only zeros", marginals[k]);
  }
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

/// As `check_matrix`. Collective over `context`, and over the ranks of the grid's row and column.
template <class T>
void check_block(mpi::Context& context, GridContexts& parts, const BlockPlace& place, matrix_view<const T> block,
                 const CheckedMarginals& marginals) {
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
  collective::allreduce(parts.row, std::span(of_rows), simd::ReduceOperation::max);
  collective::allreduce(parts.column, std::span(of_columns), simd::ReduceOperation::max);
  mpi::agreed(context, [&] {
    expect_alive(marginals.names.row(), of_rows, marginals.rows, place.first_row);
    expect_alive(marginals.names.column(), of_columns,
                 std::span(marginals.columns).subspan(static_cast<std::size_t>(place.first_column)),
                 place.first_column);
  });
}

/// An iteration on a block of a grid, which is swept twice, by several threads. Rows go through one kernel at a time,
/// whose reads the processor foresees.
template <class T, class A>
class GridScaling final : public Method {
 public:
  GridScaling(mpi::Context& context, GridContexts& parts, const BlockPlace& place, matrix_view<const T> block,
              const CheckedMarginals& marginals, std::span<const A> start)
      : Method({&marginals, 1}),
        context_(context),
        block_(block),
        first_column_(place.first_column),
        begins_a_row_(parts.row.rank() == 0),
        exact_(parts.row.size()),
        over_row_(parts.row, place.rows),
        over_column_(parts.column, place.columns + 1),
        errors_over_row_(parts.row, exact_.size() + 1) {
    mpi::agreed(context, [&] {
      const auto first = static_cast<std::size_t>(place.first_column);
      const auto columns = static_cast<std::size_t>(place.columns);
      factors_.emplace(marginals.rows, std::span(marginals.columns).subspan(first, columns));
      for (std::size_t j = 0; j < columns && !start.empty(); ++j) {
        factors_->v[j] = factors_->column_marginals[j] > 0 ? start[first + j] : A{0};
      }
      next_ = factors_->v;
      row_sums_.resize(factors_->u.size());
      column_sums_.resize(columns + 1);
      slabs_.emplace(place.rows, place.columns, place.rows * place.columns, 1, context.topology().threads());
      errors_.resize(static_cast<std::size_t>(exact_.size() + 1));
    });
  }

  void rows(std::span<const std::size_t> /*problems*/, std::span<Found> found) override {
    factors_->starved_rows = factors_->starved_columns = 0;
    constexpr Index step = simd::most_rows_at_a_time;
#pragma omp parallel for schedule(static) num_threads(slabs_->threads()) if (slabs_->threads() > 1)
    for (Index first = 0; first < block_.rows(); first += step) {
      kernels_.row_sums(block_of(block_, first, std::min(step, block_.rows() - first)), factors_->v.data(),
                        row_sums_.data() + first, {});
    }
    over_row_(row_sums_);
    found.front() = scale_rows() ? error_of(next_columns()) : Found{std::numeric_limits<double>::quiet_NaN(), true};
  }
  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override {
    factors_->v.swap(next_);
    return {};
  }

  [[nodiscard]] std::vector<Feasibility> look_for_proof(std::span<const std::size_t> /*problems*/) override {
    const auto heights =
        mpi::agreed(context_, [&] { return std::vector<double>(factors_->u.begin(), factors_->u.end()); });
    const RowHeights asked{&problem(0), heights};
    return feasibility<T>(context_, block_, Support::positive, {&asked, 1}, {first_column_, begins_a_row_});
  }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    return sums_out_of_range<A>(iteration);
  }

  [[nodiscard]] Scaling<A> scaling(Outcome outcome) && {
    return {std::move(outcome), std::move(factors_->u), std::move(factors_->v)};
  }

 private:
  /// Gives the rows their sums, and sums the columns up: whether all rows have a factor.
  [[nodiscard]] bool scale_rows() {
    std::vector<A>& u = factors_->u;
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = factors_->of_row(static_cast<Index>(i), row_sums_[i]);
    std::ranges::fill(column_sums_, A{0});
    const auto work = [&](const Slab<A>& slab) {
      constexpr Index step = simd::most_rows_at_a_time;
      for (Index first = slab.first; first < slab.first + slab.count; first += step) {
        kernels_.column_sums(block_of(block_, first, std::min(step, slab.first + slab.count - first)), u.data() + first,
                             slab.memory.data(), {});
      }
    };
    RowsSwept none;
    const auto sums = std::span(column_sums_).first(next_.size());
    slabs_->sweep(1, work, [&](std::size_t) { return SumsOfSlabs<A>{sums, none}; });
    column_sums_.back() = factors_->starved_rows > 0 ? A{1} : A{0};
    over_column_(column_sums_);
    return column_sums_.back() == 0;
  }

  /// Finds the next factors of the block's columns.
  ///
  /// \return  what their sums are off by
  [[nodiscard]] double next_columns() {
    double distance = 0;
    for (std::size_t j = 0; j < next_.size(); ++j) {
      const double sum = static_cast<double>(factors_->v[j]) * static_cast<double>(column_sums_[j]);
      distance += std::abs(sum - factors_->column_marginals[j]);
      next_[j] = factors_->of_column(j, column_sums_[j]);
    }
    return distance;
  }

  /// Of all columns, and the same on all ranks, though each row of the grid sums up by itself.
  [[nodiscard]] Found error_of(double distance) {
    const double total = problem(0).total;
    const double error = total > 0 ? distance / total : distance;
    const bool is_number = std::isfinite(error);
    const auto digits = std::span(errors_).first(errors_.size() - 1);
    exact_.write(is_number ? error : 0, digits);
    errors_.back() = factors_->starved_columns > 0 || !is_number ? A{1} : A{0};
    errors_over_row_(errors_);
    return {exact_.read(digits), errors_.back() > 0};
  }

  mpi::Context& context_;
  matrix_view<const T> block_;
  Index first_column_;
  bool begins_a_row_;
  ExactSum<A> exact_;
  SumOverRanks<A> over_row_;
  SumOverRanks<A> over_column_;
  SumOverRanks<A> errors_over_row_;
  std::optional<Factors<A>> factors_;  // of the block's rows and columns
  std::optional<Slabs<A>> slabs_;
  std::vector<A> next_;  // those of the columns
  std::vector<A> row_sums_;
  std::vector<A> column_sums_;  // then whether any row is starved
  std::vector<A> errors_;       // digits of what columns are off by, then whether any of them is starved
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
  return scale<T, A>(context, block, {rows, marginals.columns, marginals.names}, limits, start);
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
  mpi::agreed(context, [&] { expect_factors<A>(start, checked.columns); });
  GridContexts parts(context, grid);
  check_block<T>(context, parts, place, block, checked);
  GridScaling<T, A> scaling(context, parts, place, block, checked, start);
  auto outcomes = iterated(context, scaling, limits, {roundoff_of<A>()});
  return std::move(scaling).scaling(std::move(outcomes.front()));
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
