#include "plait/sinkhorn/scaling/scale.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/exchange/dealt_rows.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/overlapped_sums.hpp"
#include "plait/sinkhorn/scaling/scaling_run.hpp"

namespace plait::sinkhorn {

namespace {

template <class T>
void expect_suitable(matrix_view<T> rows, const Limits& limits) {
  if (!rows.empty() && rows.order() != StorageOrder::row_major) {
    throw ArgumentError("the matrix is column-major, expected row-major: its transpose is, with marginals exchanged");
  }
  expect_valid(limits);
}

/// Of rows and columns that are to have a sum: in others all become 0 in place, as they should.
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

void expect_no_state(const Limits& limits) {
  if (!limits.checkpoints.keep && limits.checkpoints.from == nullptr) return;
  throw ArgumentError("a state of a matrix that is scaled in place is wanted, expected scaling vectors");
}

/// Looks for a proof while the zeros of the matrix are those that it has now, before it is scaled.
template <class T>
auto prove(mpi::Context& context, matrix_view<T> rows, const CheckedMarginals& marginals) {
  using Element = std::remove_const_t<T>;
  [[maybe_unused]] const Index before = std::is_const_v<T> ? 0 : positive_entries<Element>(rows, marginals);
  return [=, &context, &marginals](std::span<const double> heights) -> Feasibility {
    if constexpr (!std::is_const_v<T>) {
      const Index lost = mpi::all_reduce(context.comm(), before - positive_entries<Element>(rows, marginals),
                                         mpi::Operation::maximum());
      if (lost > 0) return {};
    }
    return feasibility<Element>(context, rows, Support::positive, marginals, heights);
  };
}

template <class A, class Sums>
SumUp<A> shared(Sums sums) {
  return [kept = std::make_shared<Sums>(std::move(sums))](std::span<A> vector) { (*kept)(vector); };
}

template <class T, class A, class Make>
Scaling<A> scaled(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals, const Limits& limits,
                  std::span<const A> start, const Update& update, SumWay way, Make make) {
  using Element = std::remove_const_t<T>;
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<Element>();
    name_arguments(limits, arguments);
    name_arguments(update, arguments);
    expect_suitable(rows, limits);
    expect_valid(update);
  });
  const CheckedMarginals checked = update.is_balanced()
                                       ? checked_marginals(context, rows.rows(), rows.columns(), marginals)
                                       : checked_masses(context, rows.rows(), rows.columns(), marginals);
  if constexpr (!std::is_const_v<T>) mpi::agreed(context, [&] { expect_no_state(limits); });
  check_matrix<Element>(context, rows, checked);
  const auto proof = prove<T>(context, rows, checked);
  const auto iteration =
      mpi::agreed(context, [&] { return make(IterationTask<T>{rows, checked.rows, checked.columns}); });
  const double rounding = std::max(roundoff_of<A>(), std::is_const_v<T> ? 0 : roundoff_of<Element>());
  auto sums = shared<A>(SumOverRanks<A>(context, rows.columns() + scaling_riders, way));
  Outcome outcome =
      scaling_run<A>(context, {checked, limits, update, rounding, proof}, *iteration, start, std::move(sums));
  return {std::move(outcome), std::move(iteration->u()), std::move(iteration->v())};
}

template <class A>
std::unique_ptr<PartwiseIteration<A>> make_algorithm(InPlaceForm form, const IterationTask<A>& task,
                                                     Blocking blocking) {
  switch (form) {
    case InPlaceForm::typical: return typical_iteration<A>(task);
    case InPlaceForm::by_rows: return by_rows_iteration<A>(task);
    default: return blocked_iteration<A>(task, blocking);
  }
}

/// By COFFEE's Algorithm 1, 2 or 3.
template <class A>
Scaling<A> scaled_by_algorithm(mpi::Context& context, matrix_view<A> rows, const Marginals& marginals, InPlaceForm form,
                               const Limits& limits, Blocking blocking, const ColumnExchange& exchange) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<A>();
    arguments.add("form", form);
    name_arguments(limits, arguments);
    expect_suitable(rows, limits);
    if (blocking.rows < 1 || blocking.columns < 1) {
      throw ArgumentError(
          fmt::format("blocks of {} x {} elements, expected 1 x 1 at least", blocking.rows, blocking.columns));
    }
    expect_no_state(limits);
  });
  CheckedMarginals checked = checked_marginals(context, rows.rows(), rows.columns(), marginals);
  check_matrix<A>(context, rows, checked);
  std::optional<DealtRows<A>> dealt;
  if (exchange.leader_rows == LeaderRows::dealt) {
    dealt.emplace(context, rows, checked.rows);
    rows = dealt->rows();
    checked.rows = dealt->marginals();
  }
  const auto proof = prove<A>(context, rows, checked);
  const auto iteration =
      mpi::agreed(context, [&] { return make_algorithm<A>(form, {rows, checked.rows, checked.columns}, blocking); });
  auto sums = exchange.meanwhile == Meanwhile::rescale
                  ? shared<A>(OverlappedSums<A>(context, exchange.way, *iteration, rows.columns(), scaling_riders,
                                                checked.total, limits))
                  : shared<A>(SumOverRanks<A>(context, rows.columns() + scaling_riders, exchange.way));
  const Update plain;
  Outcome outcome =
      scaling_run<A>(context, {checked, limits, plain, roundoff_of<A>(), proof}, *iteration, {}, std::move(sums));
  if (iteration->has_rescaled()) {  // rows are to have their sums
    auto unused = mpi::agreed(context, [&] { return std::vector<A>(checked.columns.size()); });
    iteration->rows(unused);
  }
  auto u = dealt ? dealt->put_back(iteration->u()) : std::move(iteration->u());
  return {std::move(outcome), std::move(u), std::move(iteration->v())};
}

void expect_suitable(InPlaceForm form, const ColumnExchange& exchange) {
  if (form == InPlaceForm::fused &&
      (exchange.meanwhile != Meanwhile::wait || exchange.leader_rows != LeaderRows::kept)) {
    throw ArgumentError(
        "the fused form has nothing to rescale meanwhile and keeps its rows; expected one of Algorithms 1 to 3");
  }
  if (exchange.meanwhile == Meanwhile::rescale && exchange.way == SumWay::mpi) {
    throw ArgumentError(
        "the update is to overlap with MPI_Allreduce, which returns everything at once; expected another exchange");
  }
}

}  // namespace

template <class T, class A>
Scaling<A> scale(mpi::Context& context, matrix_view<const T> rows, const Marginals& marginals, const Limits& limits,
                 std::span<const A> start, const Update& update) {
  const auto make = [&update](const IterationTask<const T>& task) {
    return update.is_plain() ? scaling_iteration<T, A>(task) : relaxed_iteration<T, A>(task, update);
  };
  return scaled<const T, A>(context, rows, marginals, limits, start, update, SumWay::chosen, make);
}

template <class T, class A>
Scaling<A> scale_in_place(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals, InPlaceForm form,
                          const Limits& limits, Blocking blocking, ColumnExchange exchange) {
  mpi::agreed(context, [&] {
    expect_suitable(form, exchange);
    if (form == InPlaceForm::fused || std::is_same_v<T, A>) return;
    throw ArgumentError("this form of scaling computes with elements as they are, expected double or float");
  });
  if constexpr (std::is_same_v<T, A>) {
    if (form != InPlaceForm::fused) {
      return scaled_by_algorithm<A>(context, rows, marginals, form, limits, blocking, exchange);
    }
  }
  return scaled<T, A>(context, rows, marginals, limits, {}, {}, exchange.way,
                      [](const IterationTask<T>& task) { return in_place_iteration<T, A>(task); });
}

#define PLAIT_INSTANTIATE(T, A)                                                                                       \
  template Scaling<A> scale(mpi::Context&, matrix_view<const T>, const Marginals&, const Limits&, std::span<const A>, \
                            const Update&);                                                                           \
  template Scaling<A> scale_in_place(mpi::Context&, matrix_view<T>, const Marginals&, InPlaceForm, const Limits&,     \
                                     Blocking, ColumnExchange)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
