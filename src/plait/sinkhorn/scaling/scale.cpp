#include "plait/sinkhorn/scaling/scale.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/factor_iteration.hpp"
#include "plait/sinkhorn/scaling/scaling_method.hpp"

namespace plait::sinkhorn {

namespace {

/// Each row and column with the largest of its marginals.
CheckedMarginals largest_of(const std::vector<CheckedMarginals>& all) {
  CheckedMarginals largest = all.front();
  const auto raise = [](std::vector<double>& to, const std::vector<double>& from) {
    std::ranges::transform(to, from, to.begin(), [](double a, double b) { return std::max(a, b); });
  };
  for (const CheckedMarginals& marginals : all) {
    raise(largest.rows, marginals.rows);
    raise(largest.columns, marginals.columns);
  }
  return largest;
}

/// The factors of each problem to begin with.
template <class A>
std::vector<Factors<A>> first_factors(std::span<const CheckedMarginals> problems,
                                      std::span<const std::span<const A>> starts) {
  std::vector<Factors<A>> factors;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    Factors<A>& of = factors.emplace_back(problems[k].rows, problems[k].columns);
    if (starts.empty() || starts[k].empty()) continue;
    expect_factors(starts[k], std::span<const double>(problems[k].columns));
    for (std::size_t j = 0; j < of.v.size(); ++j) of.v[j] = problems[k].columns[j] > 0 ? starts[k][j] : A{0};
  }
  return factors;
}

template <class A>
struct Problems {
  std::span<const Marginals> marginals;
  std::span<const std::span<const A>> starts;  // one for each, or none
};

/// Scales rows in any form; `task_of` says how these are asked for proof.
template <class T, class A, class Operand, class Matrix, class TaskOf>
std::vector<Scaling<A>> scaled(mpi::Context& context, const Matrix& rows, Index columns, const Problems<A>& given,
                               const Limits& limits, const Update& update, const TaskOf& task_of) {
  if (given.marginals.empty()) return {};
  const auto problems = checked_marginals_of_each(context, rows.rows(), columns, given.marginals,
                                                  update.is_balanced() ? Totals::equal : Totals::any);
  const auto largest = mpi::agreed(context, [&] { return largest_of(problems); });
  check_matrix(context, rows, largest);
  auto iteration = mpi::agreed(context, [&] {
    return FactorIteration<A, Operand>(Operand(rows, problems.size(), context.topology().threads()),
                                       first_factors<A>(problems, given.starts), update);
  });
  ScalingTask task = update.is_balanced() ? task_of() : ScalingTask();
  ScalingMethod<A> method(context, problems, iteration, std::move(task));
  auto outcomes = iterated(context, method, limits, {roundoff_of<A>()});
  std::vector<Scaling<A>> results;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    Factors<A>& of = iteration.problems()[k];
    results.push_back({std::move(outcomes[k]), std::move(of.u), std::move(of.v)});
  }
  return results;
}

template <class T, class A>
std::vector<Scaling<A>> scaled_rows(mpi::Context& context, matrix_view<const T> rows, const Problems<A>& given,
                                    const Limits& limits, const Update& update) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    name_arguments(limits, arguments);
    name_arguments(update, arguments);
    expect_valid(limits);
    expect_valid(update);
    if (!rows.empty() && rows.order() != StorageOrder::row_major) {
      throw ArgumentError("the matrix is column-major, expected row-major: its transpose is, with marginals exchanged");
    }
  });
  return scaled<T, A, DenseRows<T, A>>(context, rows, rows.columns(), given, limits, update, [&] {
    return ScalingTask{[&context, rows](std::span<const RowHeights> problems) {
                         return feasibility<T>(context, rows, Support::positive, problems);
                       },
                       {}};
  });
}

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

template <class T, class A>
Scaling<A> scale(mpi::Context& context, matrix_view<const T> rows, const Marginals& marginals, const Limits& limits,
                 std::span<const A> start, const Update& update) {
  return std::move(scaled_rows<T, A>(context, rows, {{&marginals, 1}, {&start, 1}}, limits, update).front());
}

template <class T, class A>
std::vector<Scaling<A>> scale_batch(mpi::Context& context, matrix_view<const T> rows,
                                    std::span<const Marginals> marginals, const Limits& limits, const Update& update,
                                    std::span<const std::vector<A>> starts) {
  expect_as_many(context, marginals.size());
  const auto given =
      mpi::agreed(context, [&] { return std::vector<std::span<const A>>(starts.begin(), starts.end()); });
  Limits of_all = limits;
  of_all.checkpoints = {};
  return scaled_rows<T, A>(context, rows, {marginals, given}, of_all, update);
}

template <class T, class A>
Scaling<A> scale(mpi::Context& context, const layout::SparseRows<T>& rows, const Marginals& marginals,
                 const Limits& limits, std::span<const A> start) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    name_arguments(limits, arguments);
    expect_valid(limits);
  });
  SparseSupport<T> support(rows, limits.most_support_bytes);
  const auto task_of = [&] {
    return ScalingTask{[&](std::span<const RowHeights> problems) {
                         return std::vector{support.feasibility(context, problems.front())};
                       },
                       [&] { return support.at_limit(); }};
  };
  return std::move(scaled<T, A, SparseEntries<T, A>>(context, rows, rows.shape.columns, {{&marginals, 1}, {&start, 1}},
                                                     limits, {}, task_of)
                       .front());
}

template void expect_factors(std::span<const double>, std::span<const double>);
template void expect_factors(std::span<const float>, std::span<const double>);

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                                                       \
  template Scaling<A> scale(mpi::Context&, matrix_view<const T>, const Marginals&, const Limits&, std::span<const A>, \
                            const Update&);                                                                           \
  template std::vector<Scaling<A>> scale_batch(mpi::Context&, matrix_view<const T>, std::span<const Marginals>,       \
                                               const Limits&, const Update&, std::span<const std::vector<A>>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(T, A)                                                                           \
  template Scaling<A> scale(mpi::Context&, const layout::SparseRows<T>&, const Marginals&, const Limits&, \
                            std::span<const A>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
