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
#include "plait/sinkhorn/column_sums.hpp"
#include "plait/sinkhorn/course.hpp"
#include "plait/sinkhorn/feasibility.hpp"
#include "plait/sinkhorn/matrix_check.hpp"
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

/// Columns without mass have no factor that counts.
template <class A>
void expect_factors(std::span<const A> start, std::span<const double> marginals) {
  if (start.empty()) return;
  if (start.size() != marginals.size()) {
    throw ArgumentError(
        fmt::format("the start has factors for {} columns, expected {}", start.size(), marginals.size()));
  }
  for (std::size_t j = 0; j < start.size(); ++j) {
    if (marginals[j] == 0 || (start[j] > 0 && std::isfinite(start[j]))) continue;
    throw ArgumentError(
        fmt::format("the start has the factor {} for column {}, expected a finite one > 0", start[j], j));
  }
}

void expect_state(const Limits& limits, std::size_t rows, std::size_t columns, bool is_in_vectors) {
  const ScalingCheckpoints& checkpoints = limits.checkpoints;
  if (!is_in_vectors && (checkpoints.keep || checkpoints.from != nullptr)) {
    throw ArgumentError("a state of a matrix that is scaled in place is wanted, expected scaling vectors");
  }
  if (checkpoints.from == nullptr) return;
  expect_fewer(*checkpoints.from, limits.most_iterations);
  if (checkpoints.from->u.size() == rows && checkpoints.from->v.size() == columns) return;
  throw ArgumentError(fmt::format("the state has factors for {} rows and {} columns, expected {} and {}",
                                  checkpoints.from->u.size(), checkpoints.from->v.size(), rows, columns));
}

/// One run. `T` is what the matrix is stored in, const if it is not changed.
template <class T, class A>
class Run {
  using Element = std::remove_const_t<T>;

 public:
  Run(mpi::Context& context, matrix_view<T> rows, const CheckedMarginals& marginals, const Limits& limits,
      const Update& update, Iteration<A>& iteration, const MatrixCheck& seen)
      : context_(context),
        rows_(rows),
        marginals_(marginals),
        is_balanced_(update.is_balanced()),
        iteration_(iteration),
        seen_(seen),
        sums_over_ranks_(context, rows.columns() + riders),
        sums_(mpi::agreed(context, [&] { return std::vector<A>(static_cast<std::size_t>(rows.columns() + riders)); })),
        course_(limits, std::max(roundoff_of<A>(), std::is_const_v<T> ? 0 : roundoff_of<Element>())) {}

  [[nodiscard]] Outcome to_the_end() {
    while (!course_.is_at_limit()) {
      const double error = iterate();
      course_.took(error);
      if (starved_ > 0 || !std::isfinite(error)) return out_of_range();
      if (course_.is_over()) return course_.outcome();
      if (course_.is_slow() && is_infeasible()) return course_.outcome();
      if (course_.is_at_limit()) break;
      iteration_.columns(sums());
      if (iteration_.starved_columns() > 0) return out_of_range();
      course_.keep([this] {
        return ScalingState{{iteration_.u().begin(), iteration_.u().end()},
                            {iteration_.v().begin(), iteration_.v().end()},
                            {}};
      });
    }
    return limit_reached();
  }

 private:
  // Beside the sums: what rows are off by, and the number of those without a factor.
  static constexpr Index riders = 2;

  [[nodiscard]] std::span<A> sums() { return std::span(sums_).first(sums_.size() - riders); }

  double iterate() {
    std::ranges::fill(sums_, A{0});
    iteration_.rows(sums());
    sums_[sums_.size() - 2] = static_cast<A>(iteration_.row_distance());
    sums_.back() = static_cast<A>(iteration_.starved_rows());
    sums_over_ranks_(sums_);
    starved_ = static_cast<double>(sums_.back());
    const double distance = iteration_.distance(sums()) + static_cast<double>(sums_[sums_.size() - 2]);
    const double whole = iteration_.whole() < 0 ? marginals_.total : iteration_.whole();
    return whole > 0 ? distance / whole : distance;
  }

  /// The zeros of the matrix are proof only while they are those that it came with; sums that are not given can be had
  /// of any matrix.
  [[nodiscard]] Feasibility look_for_a_proof() {
    if (!is_balanced_) return {};
    if constexpr (!std::is_const_v<T>) {
      Index positive = 0;
      for (Index i = 0; i < rows_.rows(); ++i) {
        const T* row = rows_.data() + i * rows_.leading_dimension();
        for (Index j = 0; j < rows_.columns(); ++j) {
          positive += static_cast<Index>(simd::widened<simd::FloatOf<Element>>(row[j]) > 0);
        }
      }
      const Index lost = mpi::all_reduce(context_.comm(), seen_.positive - positive, mpi::Operation::maximum());
      if (lost > 0) return {};
    }
    const auto heights =
        mpi::agreed(context_, [&] { return std::vector<double>(iteration_.u().begin(), iteration_.u().end()); });
    return feasibility<Element>(context_, rows_, Support::positive, marginals_, heights);
  }

  [[nodiscard]] bool is_infeasible() { return course_.is_proof(look_for_a_proof(), marginals_); }

  [[nodiscard]] Outcome limit_reached() {
    if (course_.outcome().iterations == 0) return course_.at_limit();
    const Feasibility found = look_for_a_proof();
    if (course_.is_proof(found, marginals_)) return course_.outcome();
    return course_.at_limit(found);
  }

  [[nodiscard]] Outcome out_of_range() {
    if (is_infeasible()) return course_.outcome();
    const auto numbers = std::is_same_v<A, double> ? "double" : "float";
    return course_.ended(
        Status::numerical_limit,
        fmt::format("sums of rows or columns left the range of {} in iteration {}; the logarithmic domain "
                    "(plait transport) has no such limit",
                    numbers, course_.outcome().iterations));
  }

  mpi::Context& context_;
  matrix_view<T> rows_;
  const CheckedMarginals& marginals_;
  bool is_balanced_;
  Iteration<A>& iteration_;
  MatrixCheck seen_;
  SumOverRanks<A> sums_over_ranks_;
  std::vector<A> sums_;
  Course course_;
  double starved_ = 0;
};

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
    expect_factors(start, checked.columns);
    expect_state(limits, checked.rows.size(), checked.columns.size(), std::is_const_v<T>);
  });
  const MatrixCheck seen = check_matrix<Element>(context, rows, checked);
  const auto iteration =
      mpi::agreed(context, [&] { return make(IterationTask<T>{rows, checked.rows, checked.columns}); });
  for (std::size_t j = 0; j < start.size(); ++j) {
    iteration->v()[j] = checked.columns[j] > 0 ? start[j] : A{0};
  }
  if (const ScalingState* from = limits.checkpoints.from) {
    const auto as_number = [](double factor) { return static_cast<A>(factor); };
    std::ranges::transform(from->u, iteration->u().begin(), as_number);
    std::ranges::transform(from->v, iteration->v().begin(), as_number);
  }
  Outcome outcome = Run<T, A>(context, rows, checked, limits, update, *iteration, seen).to_the_end();
  return {std::move(outcome), std::move(iteration->u()), std::move(iteration->v())};
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
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
