#include "plait/sinkhorn/coffee/scale_in_place.hpp"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/coffee/dealt_rows.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/scaling_method.hpp"

namespace plait::sinkhorn {

namespace {

/// Of rows and columns that are to have a sum: in others all become 0, as they should.
template <class T>
Index positive_entries(matrix_view<const T> rows, const CheckedMarginals& marginals) {
  Index positive = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (marginals.rows[static_cast<std::size_t>(i)] == 0) continue;
    const T* row = rows.data() + i * rows.leading_dimension();
    for (Index j = 0; j < rows.columns(); ++j) {
      positive += static_cast<Index>(simd::widened<simd::FloatOf<T>>(row[j]) > 0 &&
                                     marginals.columns[static_cast<std::size_t>(j)] > 0);
    }
  }
  return positive;
}

/// Looks for a proof while the zeros of the matrix are those that it has now, before it is scaled.
template <class T>
ScalingTask task_of(mpi::Context& context, matrix_view<T> rows, const CheckedMarginals& marginals) {
  const Index before = positive_entries<T>(rows, marginals);
  return {[=, &context, &marginals](std::span<const RowHeights> problems) {
            const Index lost = mpi::all_reduce(context.comm(), before - positive_entries<T>(rows, marginals),
                                               mpi::Operation::maximum());
            if (lost > 0) return std::vector<Feasibility>(problems.size());
            return feasibility<T>(context, rows, Support::positive, problems);
          },
          {}};
}

template <class T>
void expect_suitable(matrix_view<T> rows, InPlaceForm form, const Limits& limits, Blocking blocking,
                     const ColumnExchange& exchange) {
  if (form == InPlaceForm::fused &&
      (exchange.meanwhile != Meanwhile::wait || exchange.leader_rows != LeaderRows::kept)) {
    throw ArgumentError(
        "the fused form has nothing to rescale meanwhile and keeps its rows; expected one of Algorithms 1 to 3");
  }
  if (exchange.meanwhile == Meanwhile::rescale && exchange.way == SumWay::mpi) {
    throw ArgumentError(
        "the update is to overlap with MPI_Allreduce, which returns everything at once; expected another exchange");
  }
  if (!rows.empty() && rows.order() != StorageOrder::row_major) {
    throw ArgumentError("the matrix is column-major, expected row-major: its transpose is, with marginals exchanged");
  }
  expect_valid(limits);
  if (blocking.rows < 1 || blocking.columns < 1) {
    throw ArgumentError(
        fmt::format("blocks of {} x {} elements, expected 1 x 1 at least", blocking.rows, blocking.columns));
  }
  if (!limits.checkpoints.keep && limits.checkpoints.from == nullptr) return;
  throw ArgumentError("a state of a matrix that is scaled in place is wanted, expected scaling vectors");
}

template <class A>
std::unique_ptr<PartwiseIteration<A>> algorithm(InPlaceForm form, const IterationTask<A>& task, Blocking blocking) {
  switch (form) {
    case InPlaceForm::typical: return typical_iteration<A>(task);
    case InPlaceForm::by_rows: return by_rows_iteration<A>(task);
    default: return blocked_iteration<A>(task, blocking);
  }
}

template <class A>
SumUp<A> sums_of(mpi::Context& context, PartwiseIteration<A>& iteration, const ColumnExchange& exchange,
                 const CheckedMarginals& marginals, const Limits& limits) {
  const auto columns = static_cast<Index>(marginals.columns.size());
  if (exchange.meanwhile == Meanwhile::wait) return sum_up<A>(context, columns + scaling_riders, exchange.way);
  auto overlapped = std::make_shared<OverlappedSums<A>>(context, exchange.way, iteration, columns, scaling_riders,
                                                        marginals.total, limits);
  return [overlapped](std::span<A> vector) { (*overlapped)(vector); };
}

template <class A>
Outcome iterated_in_place(mpi::Context& context, const CheckedMarginals& marginals, InPlaceIteration<A>& iteration,
                          ScalingTask task, SumUp<A> sums, const Limits& limits, double rounding) {
  ScalingMethod<A> method(context, {&marginals, 1}, iteration, std::move(task), std::move(sums));
  return std::move(iterated(context, method, limits, {rounding}).front());
}

/// By COFFEE's Algorithm 1, 2 or 3.
template <class A>
Scaling<A> scaled_by_algorithm(mpi::Context& context, matrix_view<A> rows, CheckedMarginals checked, InPlaceForm form,
                               const Limits& limits, Blocking blocking, const ColumnExchange& exchange) {
  std::optional<DealtRows<A>> dealt;
  if (exchange.leader_rows == LeaderRows::dealt) {
    dealt.emplace(context, rows, checked.rows);
    rows = dealt->rows();
    checked.rows = dealt->marginals();
  }
  const auto iteration =
      mpi::agreed(context, [&] { return algorithm<A>(form, {rows, checked.rows, checked.columns}, blocking); });
  Outcome outcome =
      iterated_in_place<A>(context, checked, *iteration, task_of(context, rows, checked),
                           sums_of<A>(context, *iteration, exchange, checked, limits), limits, roundoff_of<A>());
  if (iteration->has_rescaled()) {  // rows are to have their sums
    auto unused = mpi::agreed(context, [&] { return std::vector<A>(checked.columns.size()); });
    iteration->add_rows(unused);
  }
  auto u = dealt ? dealt->put_back(iteration->u()) : std::move(iteration->u());
  return {std::move(outcome), std::move(u), std::move(iteration->v())};
}

}  // namespace

template <class T, class A>
Scaling<A> scale_in_place(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals, InPlaceForm form,
                          const Limits& limits, Blocking blocking, ColumnExchange exchange) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("form", form);
    name_arguments(limits, arguments);
    expect_suitable(rows, form, limits, blocking, exchange);
    if (form == InPlaceForm::fused || std::is_same_v<T, A>) return;
    throw ArgumentError("this form of scaling computes with elements as they are, expected double or float");
  });
  CheckedMarginals checked = checked_marginals(context, rows.rows(), rows.columns(), marginals);
  check_matrix(context, matrix_view<const T>(rows), checked);
  if constexpr (std::is_same_v<T, A>) {
    if (form != InPlaceForm::fused) {
      return scaled_by_algorithm<A>(context, rows, std::move(checked), form, limits, blocking, exchange);
    }
  }
  const auto iteration = mpi::agreed(
      context, [&] { return in_place_iteration<T, A>(IterationTask<T>{rows, checked.rows, checked.columns}); });
  Outcome outcome = iterated_in_place<A>(context, checked, *iteration, task_of(context, rows, checked),
                                         sum_up<A>(context, rows.columns() + scaling_riders, exchange.way), limits,
                                         std::max(roundoff_of<A>(), roundoff_of<T>()));
  return {std::move(outcome), std::move(iteration->u()), std::move(iteration->v())};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                                                   \
  template Scaling<A> scale_in_place(mpi::Context&, matrix_view<T>, const Marginals&, InPlaceForm, const Limits&, \
                                     Blocking, ColumnExchange)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
