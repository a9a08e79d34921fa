#include "plait/sinkhorn/scaling/scaling_run.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/course.hpp"

namespace plait::sinkhorn {

namespace {

void expect_state(const Limits& limits, std::size_t rows, std::size_t columns) {
  const ScalingCheckpoints& checkpoints = limits.checkpoints;
  if (checkpoints.from == nullptr) return;
  expect_fewer(*checkpoints.from, limits.most_iterations);
  if (checkpoints.from->u.size() == rows && checkpoints.from->v.size() == columns) return;
  throw ArgumentError(fmt::format("the state has factors for {} rows and {} columns, expected {} and {}",
                                  checkpoints.from->u.size(), checkpoints.from->v.size(), rows, columns));
}

template <class A>
class Run {
 public:
  Run(mpi::Context& context, const ScalingTask& task, Iteration<A>& iteration, SumUp<A> sum_over_ranks)
      : context_(context),
        task_(task),
        iteration_(iteration),
        sum_over_ranks_(std::move(sum_over_ranks)),
        sums_(mpi::agreed(context, [&] { return std::vector<A>(task.marginals.columns.size() + riders); })),
        course_(task.limits, task.rounding) {}

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
      if (!iteration_.translate(static_cast<double>(sums_[sums_.size() - 3]))) return out_of_range();
      course_.keep([this] {
        return ScalingState{
            {iteration_.u().begin(), iteration_.u().end()}, {iteration_.v().begin(), iteration_.v().end()}, {}};
      });
    }
    return limit_reached();
  }

 private:
  static constexpr auto riders = static_cast<std::size_t>(scaling_riders);

  [[nodiscard]] std::span<A> sums() { return std::span(sums_).first(sums_.size() - riders); }

  double iterate() {
    std::ranges::fill(sums_, A{0});
    iteration_.rows(sums());
    sums_[sums_.size() - 3] = static_cast<A>(iteration_.wanted_of_rows());
    sums_[sums_.size() - 2] = static_cast<A>(iteration_.row_distance());
    sums_.back() = static_cast<A>(iteration_.starved_rows());
    sum_over_ranks_(sums_);
    starved_ = static_cast<double>(sums_.back());
    const double distance = iteration_.distance(sums()) + static_cast<double>(sums_[sums_.size() - 2]);
    const double whole = iteration_.whole() < 0 ? task_.marginals.total : iteration_.whole();
    return whole > 0 ? distance / whole : distance;
  }

  /// Sums that are not given can be had of any matrix.
  [[nodiscard]] Feasibility look_for_a_proof() {
    if (!task_.update.is_balanced()) return {};
    const auto heights =
        mpi::agreed(context_, [&] { return std::vector<double>(iteration_.u().begin(), iteration_.u().end()); });
    return task_.prove(heights);
  }

  [[nodiscard]] bool is_infeasible() { return course_.is_proof(look_for_a_proof(), task_.marginals); }

  [[nodiscard]] Outcome limit_reached() {
    if (course_.outcome().iterations == 0) return course_.at_limit();
    const Feasibility found = look_for_a_proof();
    if (course_.is_proof(found, task_.marginals)) return course_.outcome();
    return course_.at_limit(found, task_.marginals.names);
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
  const ScalingTask& task_;
  Iteration<A>& iteration_;
  SumUp<A> sum_over_ranks_;
  std::vector<A> sums_;
  Course course_;
  double starved_ = 0;
};

}  // namespace

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

template <class A>
Outcome scaling_run(mpi::Context& context, const ScalingTask& task, Iteration<A>& iteration, std::span<const A> start,
                    SumUp<A> sum_over_ranks) {
  const CheckedMarginals& marginals = task.marginals;
  mpi::agreed(context, [&] {
    expect_factors<A>(start, marginals.columns);
    expect_state(task.limits, marginals.rows.size(), marginals.columns.size());
  });
  for (std::size_t j = 0; j < start.size(); ++j) iteration.v()[j] = marginals.columns[j] > 0 ? start[j] : A{0};
  if (const ScalingState* from = task.limits.checkpoints.from) {
    const auto as_number = [](double factor) { return static_cast<A>(factor); };
    std::ranges::transform(from->u, iteration.u().begin(), as_number);
    std::ranges::transform(from->v, iteration.v().begin(), as_number);
  }
  return Run<A>(context, task, iteration, std::move(sum_over_ranks)).to_the_end();
}

template void expect_factors(std::span<const double>, std::span<const double>);
template void expect_factors(std::span<const float>, std::span<const double>);

template Outcome scaling_run(mpi::Context&, const ScalingTask&, Iteration<double>&, std::span<const double>,
                             SumUp<double>);
template Outcome scaling_run(mpi::Context&, const ScalingTask&, Iteration<float>&, std::span<const float>,
                             SumUp<float>);

}  // namespace plait::sinkhorn
