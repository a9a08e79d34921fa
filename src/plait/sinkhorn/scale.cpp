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

void expect_state(const Limits& limits, std::size_t columns, bool is_in_vectors) {
  const ScalingCheckpoints& checkpoints = limits.checkpoints;
  if (!is_in_vectors && (checkpoints.keep || checkpoints.from != nullptr)) {
    throw ArgumentError("a state of a matrix that is scaled in place is wanted, expected scaling vectors");
  }
  if (checkpoints.from == nullptr) return;
  expect_fewer(*checkpoints.from, limits.most_iterations);
  if (checkpoints.from->v.size() == columns) return;
  throw ArgumentError(
      fmt::format("the state has factors for {} columns, expected {}", checkpoints.from->v.size(), columns));
}

/// One run. `T` is what the matrix is stored in, const if it is not changed.
template <class T, class A>
class Run {
  using Element = std::remove_const_t<T>;

 public:
  Run(mpi::Context& context, matrix_view<T> rows, const CheckedMarginals& marginals, const Limits& limits,
      Iteration<A>& iteration, const MatrixCheck& seen)
      : context_(context),
        rows_(rows),
        marginals_(marginals),
        limits_(limits),
        iteration_(iteration),
        seen_(seen),
        sums_over_ranks_(context, rows.columns() + riders),
        sums_(mpi::agreed(context, [&] { return std::vector<A>(static_cast<std::size_t>(rows.columns() + riders)); })) {
  }

  [[nodiscard]] Outcome to_the_end() {
    const double rounding = std::max(roundoff_of<A>(), std::is_const_v<T> ? 0 : roundoff_of<Element>());
    if (const ScalingState* from = limits_.checkpoints.from) {
      outcome_.errors = from->errors;
      outcome_.iterations = static_cast<Index>(from->errors.size());
    }
    while (true) {
      if (outcome_.iterations == limits_.most_iterations) return limit_reached();
      const double error = iterate();
      if (limits_.listener) limits_.listener(outcome_.iterations, error);
      if (starved_ > 0 || !std::isfinite(error)) return out_of_range();
      if (error <= limits_.tolerance) {
        return ended(Status::converged,
                     fmt::format("the error is {:.3g}, at most {:.3g} was wanted", error, limits_.tolerance));
      }
      if (is_as_good_as_it_gets(outcome_.errors, rounding)) {
        return ended(Status::numerical_limit,
                     fmt::format("the error stays at {:.3g}, which is what rounding leaves; {:.3g} was wanted", error,
                                 limits_.tolerance));
      }
      if (is_slow(outcome_.errors) && is_infeasible()) return outcome_;
      if (outcome_.iterations == limits_.most_iterations) return limit_reached();
      iteration_.columns(sums());
      if (iteration_.starved_columns() > 0) return out_of_range();
      if (limits_.checkpoints.is_due(outcome_.iterations)) {
        limits_.checkpoints.keep({{iteration_.v().begin(), iteration_.v().end()}, outcome_.errors});
      }
    }
  }

 private:
  static constexpr Index riders = 1;  // beside the sums: the number of rows without a factor

  [[nodiscard]] std::span<A> sums() { return std::span(sums_).first(sums_.size() - riders); }

  double iterate() {
    std::ranges::fill(sums_, A{0});
    iteration_.rows(sums());
    sums_.back() = static_cast<A>(iteration_.starved_rows());
    sums_over_ranks_(sums_);
    starved_ = static_cast<double>(sums_.back());
    const double distance = iteration_.distance(sums());
    outcome_.error = marginals_.total > 0 ? distance / marginals_.total : distance;
    outcome_.errors.push_back(outcome_.error);
    ++outcome_.iterations;
    return outcome_.error;
  }

  [[nodiscard]] Outcome ended(Status status, std::string reason) {
    outcome_.status = status;
    outcome_.reason = std::move(reason);
    return outcome_;
  }

  /// The zeros of the matrix are proof only while they are those that it came with.
  [[nodiscard]] Feasibility look_for_a_proof() {
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

  [[nodiscard]] bool is_infeasible() { return is_proof(look_for_a_proof()); }

  [[nodiscard]] bool is_proof(const Feasibility& found) {
    if (!found.is_infeasible) return false;
    outcome_.status = marginals_.are_uniform ? Status::no_support : Status::infeasible_marginals;
    outcome_.reason = describe(found.bottleneck);
    return true;
  }

  [[nodiscard]] Outcome limit_reached() {
    std::string reason = fmt::format("the error is {:.3g} after {} iterations, {:.3g} was wanted", outcome_.error,
                                     outcome_.iterations, limits_.tolerance);
    if (outcome_.iterations > 0) {
      const Feasibility found = look_for_a_proof();
      if (is_proof(found)) return outcome_;
      if (found.is_tight) {
        reason += "; it falls slowly because the matrix has no total support: " + describe(found.bottleneck) +
                  ", so that what other rows have there has to vanish";
      }
    }
    return ended(Status::iteration_limit, reason);
  }

  [[nodiscard]] Outcome out_of_range() {
    if (is_infeasible()) return outcome_;
    const auto numbers = std::is_same_v<A, double> ? "double" : "float";
    return ended(Status::numerical_limit,
                 fmt::format("sums of rows or columns left the range of {} in iteration {}; the logarithmic domain "
                             "(plait transport) has no such limit",
                             numbers, outcome_.iterations));
  }

  mpi::Context& context_;
  matrix_view<T> rows_;
  const CheckedMarginals& marginals_;
  const Limits& limits_;
  Iteration<A>& iteration_;
  MatrixCheck seen_;
  SumOverRanks<A> sums_over_ranks_;
  std::vector<A> sums_;
  double starved_ = 0;
  Outcome outcome_;
};

template <class T, class A, class Make>
Scaling<A> scaled(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals, const Limits& limits,
                  std::span<const A> start, Make make) {
  using Element = std::remove_const_t<T>;
  mpi::agreed(context, [&] { expect_suitable(rows, limits); });
  const CheckedMarginals checked = checked_marginals(context, rows.rows(), rows.columns(), marginals);
  mpi::agreed(context, [&] {
    expect_factors(start, checked.columns);
    expect_state(limits, checked.columns.size(), std::is_const_v<T>);
  });
  const MatrixCheck seen = check_matrix<Element>(context, rows, checked);
  const auto iteration =
      mpi::agreed(context, [&] { return make(IterationTask<T>{rows, checked.rows, checked.columns}); });
  for (std::size_t j = 0; j < start.size(); ++j) {
    iteration->v()[j] = checked.columns[j] > 0 ? start[j] : A{0};
  }
  if (const ScalingState* from = limits.checkpoints.from) {
    std::ranges::transform(from->v, iteration->v().begin(), [](double factor) { return static_cast<A>(factor); });
  }
  Outcome outcome = Run<T, A>(context, rows, checked, limits, *iteration, seen).to_the_end();
  return {std::move(outcome), std::move(iteration->u()), std::move(iteration->v())};
}

}  // namespace

template <class T, class A>
Scaling<A> scale(mpi::Context& context, matrix_view<const T> rows, const Marginals& marginals, const Limits& limits,
                 std::span<const A> start) {
  return scaled<const T, A>(context, rows, marginals, limits, start,
                            [](const IterationTask<const T>& task) { return scaling_iteration<T, A>(task); });
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
  return scaled<T, A>(context, rows, marginals, limits, {}, make);
}

#define PLAIT_INSTANTIATE(T, A)                                                                                        \
  template Scaling<A> scale(mpi::Context&, matrix_view<const T>, const Marginals&, const Limits&, std::span<const A>); \
  template Scaling<A> scale_in_place<T, A>(mpi::Context&, matrix_view<T>, const Marginals&, InPlaceForm,               \
                                           const Limits&, Blocking)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);

}  // namespace plait::sinkhorn
