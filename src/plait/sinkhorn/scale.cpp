#include "plait/sinkhorn/scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/feasibility.hpp"
#include "plait/sinkhorn/matrix_check.hpp"
#include "plait/sinkhorn/scaling_run.hpp"
#include "plait/sinkhorn/stagnation.hpp"

namespace plait::sinkhorn {

namespace {

template <class T>
void expect_suitable(matrix_view<T> rows, const Limits& limits) {
  if (!rows.empty() && rows.order() != StorageOrder::row_major) {
    throw ArgumentError("the matrix is column-major, expected row-major: its transpose is, with marginals exchanged");
  }
  expect_valid(limits);
}

/// The zeros of a matrix are proof only while they are those that it came with.
template <class T>
bool are_zeros_its_own(mpi::Context& context, matrix_view<T> rows, const MatrixCheck& seen) {
  Index positive = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const T* row = rows.data() + i * rows.leading_dimension();
    for (Index j = 0; j < rows.columns(); ++j) {
      positive += static_cast<Index>(simd::widened<simd::FloatOf<T>>(row[j]) > 0);
    }
  }
  return mpi::all_reduce(context.comm(), seen.positive - positive, mpi::Operation::maximum()) <= 0;
}

template <class T, class A, class Make>
Scaling<A> scaled(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals, const Limits& limits,
                  std::span<const A> start, const Update& update, Make make) {
  using Element = std::remove_const_t<T>;
  mpi::agreed(context, [&] {
    expect_suitable(rows, limits);
    expect_valid(update);
  });
  const CheckedMarginals checked = update.is_balanced()
                                       ? checked_marginals(context, rows.rows(), rows.columns(), marginals)
                                       : checked_masses(context, rows.rows(), rows.columns(), marginals);
  mpi::agreed(context, [&] {
    if (!std::is_const_v<T> && (limits.checkpoints.keep || limits.checkpoints.from != nullptr)) {
      throw ArgumentError("a state of a matrix that is scaled in place is wanted, expected scaling vectors");
    }
  });
  const MatrixCheck seen = check_matrix<Element>(context, rows, checked);
  const auto iteration =
      mpi::agreed(context, [&] { return make(IterationTask<T>{rows, checked.rows, checked.columns}); });
  const auto prove = [&](std::span<const double> heights) -> Feasibility {
    if constexpr (!std::is_const_v<T>) {
      if (!are_zeros_its_own(context, rows, seen)) return {};
    }
    return feasibility<Element>(context, rows, Support::positive, checked, heights);
  };
  const double rounding = std::max(roundoff_of<A>(), std::is_const_v<T> ? 0 : roundoff_of<Element>());
  return scaling_run<A>(context, {checked, limits, update, rounding, prove}, *iteration, start);
}

}  // namespace

template <class T, class A>
Scaling<A> scale(mpi::Context& context, matrix_view<const T> rows, const Marginals& marginals, const Limits& limits,
                 std::span<const A> start, const Update& update) {
  const auto make = [&update](const IterationTask<const T>& task) {
    return update.is_plain() ? scaling_iteration<T, A>(task) : relaxed_iteration<T, A>(task, update);
  };
  return scaled<const T, A>(context, rows, marginals, limits, start, update, make);
}

template <class T, class A>
Scaling<A> scale_in_place(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals, InPlaceForm form,
                          const Limits& limits, Blocking blocking) {
  const auto make = [form, blocking](const IterationTask<T>& task) -> std::unique_ptr<Iteration<A>> {
    if (form == InPlaceForm::fused) return in_place_iteration<T, A>(task);
    if constexpr (std::is_same_v<T, A>) {
      if (blocking.rows < 1 || blocking.columns < 1) {
        throw ArgumentError(
            fmt::format("blocks of {} x {} elements, expected 1 x 1 at least", blocking.rows, blocking.columns));
      }
      switch (form) {
        case InPlaceForm::typical: return typical_iteration<A>(task);
        case InPlaceForm::by_rows: return by_rows_iteration<A>(task);
        default: return blocked_iteration<A>(task, blocking);
      }
    } else {
      throw ArgumentError("this form of scaling computes with elements as they are, expected double or float");
    }
  };
  return scaled<T, A>(context, rows, marginals, limits, {}, {}, make);
}

#define PLAIT_INSTANTIATE(T, A)                                                                                       \
  template Scaling<A> scale(mpi::Context&, matrix_view<const T>, const Marginals&, const Limits&, std::span<const A>, \
                            const Update&);                                                                           \
  template Scaling<A> scale_in_place<T, A>(mpi::Context&, matrix_view<T>, const Marginals&, InPlaceForm,              \
                                           const Limits&, Blocking)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);

}  // namespace plait::sinkhorn
