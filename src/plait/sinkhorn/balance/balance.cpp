#include "plait/sinkhorn/balance/balance.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"

namespace plait::sinkhorn {

namespace {

using schedule::Binding;

class Balancer {
 public:
  Balancer(mpi::Context& context, SymmetricOperand& matrix, double sum, const Limits& limits)
      : context_(context),
        matrix_(matrix),
        sum_(sum),
        first_(mpi::sum_below(context.comm(), matrix.rows())),
        products_of_all_(mpi::agreed(context,
                                     [&, counts = mpi::all_gather(context.comm(), matrix.rows())] {
                                       return collective::all_gather_schedule(context, counts, Index{sizeof(double)});
                                     })),
        course_(limits, roundoff_of<double>()) {
    mpi::agreed(context, [&] {
      from_ = limits.checkpoints.from;
      if (from_ != nullptr) expect_state(*from_, limits.most_iterations, matrix.columns());
      const auto own = static_cast<std::size_t>(matrix.rows());
      const auto all = static_cast<std::size_t>(matrix.columns());
      x_.assign(all, 1.0);
      products_.resize(all);
      own_.resize(own);
      marginals_.rows.assign(own, sum);
      marginals_.columns.assign(all, sum);
      marginals_.first_row = first_;
      marginals_.all_rows = matrix.columns();
      marginals_.names = matrix.names();
    });
  }

  [[nodiscard]] Balance to_the_end() {
    multiply();
    mask();
    if (from_ != nullptr) x_ = from_->v;
    while (!course_.is_at_limit() && !is_over()) {
    }
    if (course_.outcome().reason.empty()) at_limit();
    Outcome outcome = course_.outcome();
    if (outcome.status == Status::iteration_limit) outcome.reason += matrix_.at_limit();
    return {std::move(outcome), std::move(x_), masked_};
  }

 private:
  static void expect_state(const ScalingState& from, Index most_iterations, Index columns) {
    expect_fewer(from, most_iterations);
    if (static_cast<Index>(from.v.size()) == columns) return;
    throw ArgumentError(fmt::format("the state has factors for {} rows, expected {}", from.v.size(), columns));
  }

  void multiply() {
    matrix_.multiply(x_, own_);
    products_of_all_.start({{Binding::input(std::as_bytes(std::span(own_))),
                             Binding::output(std::as_writable_bytes(std::span(products_)))}});
    products_of_all_.wait();
  }

  void mask() {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (products_[i] != 0) continue;
      ++masked_;
      x_[i] = 0;
      marginals_.columns[i] = 0;
    }
    std::copy_n(marginals_.columns.begin() + first_, marginals_.rows.size(), marginals_.rows.begin());
    marginals_.total = sum_ * static_cast<double>(matrix_.columns() - masked_);
  }

  /// One iteration: its error is that of the x before it moves on.
  [[nodiscard]] bool is_over() {
    if (course_.outcome().iterations > 0) multiply();
    double distance = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_[i] != 0) distance += std::abs(x_[i] * products_[i] - sum_);
    }
    const double error = marginals_.total > 0 ? distance / marginals_.total : 0;
    course_.took(error);
    if (!std::isfinite(error)) return out_of_range();
    if (course_.is_over()) return true;
    if (course_.is_slow() && course_.is_proof(look_for_a_proof(), marginals_)) return true;
    if (course_.is_at_limit()) return false;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_[i] == 0) continue;
      x_[i] = std::sqrt(sum_ * x_[i] / products_[i]);
      if (!(x_[i] > 0) || !std::isfinite(x_[i])) return out_of_range();
    }
    course_.keep([this] {
      const auto own = std::span(x_).subspan(static_cast<std::size_t>(first_), own_.size());
      return ScalingState{{own.begin(), own.end()}, x_, {}};
    });
    return false;
  }

  [[nodiscard]] bool out_of_range() {
    if (course_.is_proof(look_for_a_proof(), marginals_)) return true;
    course_.ended(Status::numerical_limit, fmt::format("factors or sums left the range of double in iteration {}",
                                                       course_.outcome().iterations));
    return true;
  }

  void at_limit() {
    if (course_.outcome().iterations == 0) {
      course_.at_limit();
      return;
    }
    const Feasibility found = look_for_a_proof();
    if (!course_.is_proof(found, marginals_)) course_.at_limit(found, marginals_.names);
  }

  [[nodiscard]] Feasibility look_for_a_proof() {
    return matrix_.feasibility_of(context_, marginals_,
                                  std::span(x_).subspan(static_cast<std::size_t>(first_), own_.size()));
  }

  mpi::Context& context_;
  SymmetricOperand& matrix_;
  double sum_;
  Index first_;
  schedule::Schedule products_of_all_;
  Course course_;
  const ScalingState* from_ = nullptr;
  CheckedMarginals marginals_;
  std::vector<double> x_;
  std::vector<double> products_;  // A x
  std::vector<double> own_;       // of this rank's rows
  Index masked_ = 0;
};

}  // namespace

Balance balance(mpi::Context& context, SymmetricOperand& matrix, double sum, const Limits& limits) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("sum", sum);
    name_arguments(limits, arguments);
    expect_valid(limits);
    if (sum > 0 && std::isfinite(sum)) return;
    throw ArgumentError(fmt::format("rows are to sum up to {}, expected a finite number > 0", sum));
  });
  const Index columns = mpi::all_reduce(context.comm(), matrix.columns(), mpi::Operation::maximum());
  const Index rows = mpi::all_reduce(context.comm(), matrix.rows(), mpi::Operation::sum());
  mpi::agreed(context, [&] {
    if (matrix.columns() == columns && rows == columns) return;
    throw ArgumentError(fmt::format("the matrix is {}, expected as many rows as columns",
                                    matrix.names().shape(rows, matrix.columns())));
  });
  matrix.expect_symmetric(context);
  return Balancer(context, matrix, sum, limits).to_the_end();
}

}  // namespace plait::sinkhorn
