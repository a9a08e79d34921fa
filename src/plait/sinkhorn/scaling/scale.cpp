#include "plait/sinkhorn/scaling/scale.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/methods.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

namespace {

/// Scales rows in any form.
///
/// \param start  of the columns, if there is one problem
template <class T, class A, class Matrix>
std::vector<Scaling<A>> scaled(mpi::Context& context, const Matrix& matrix, std::span<const Marginals> marginals,
                               const Limits& limits, std::span<const A> start) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    name_arguments(limits, arguments);
    expect_valid(limits);
    if constexpr (requires { matrix.order(); }) expect_row_major(matrix, "the matrix is");
  });
  if (marginals.empty()) return {};
  const auto problems = checked_marginals_of_each(context, matrix.rows(), columns_of(matrix), marginals);
  check_matrix(context, matrix, problems);
  std::vector<Factors<A>> factors;
  auto rows = mpi::agreed(context, [&](mpi::Alike& arguments) {
    expect_start(start, std::span<const double>(problems.front().columns), "factor", A{0}, arguments);
    for (const CheckedMarginals& problem : problems) factors.emplace_back(problem.rows, problem.columns);
    factors.front().begin_with(start);
    return swept_rows<A>(context, matrix, problems.size(), limits.most_support_bytes);
  });
  FactorMethod<A, decltype(rows)> method(context, std::span(problems), rows, std::move(factors), {});
  auto outcomes = iterated(context, method, limits, {roundoff_of<A>()});
  std::vector<Scaling<A>> results;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    Factors<A>& of = method.factors()[k];
    results.push_back({std::move(outcomes[k]), std::move(of.u), std::move(of.v)});
  }
  return results;
}

}  // namespace

template <class A>
void expect_start(std::span<const A> start, std::span<const double> marginals, std::string_view what, A above,
                  mpi::Alike& arguments) {
  arguments.add("digest of the start", digest_of(start));
  if (start.empty()) return;
  if (start.size() != marginals.size()) {
    throw ArgumentError(
        fmt::format("the start has {}s for {} columns, expected {}", what, start.size(), marginals.size()));
  }
  for (std::size_t j = 0; j < start.size(); ++j) {
    if (marginals[j] == 0 || (std::isfinite(start[j]) && start[j] > above)) continue;
    throw ArgumentError(fmt::format("the start has the {} {} for column {}, expected a finite one{}", what, start[j], j,
                                    above == 0 ? " > 0" : ""));
  }
}

template <class T, class A>
Scaling<A> scale(mpi::Context& context, matrix_view<const T> rows, const Marginals& marginals, const Limits& limits,
                 std::span<const A> start) {
  return std::move(scaled<T>(context, rows, {&marginals, 1}, limits, start).front());
}

template <class T, class A>
std::vector<Scaling<A>> scale_batch(mpi::Context& context, matrix_view<const T> rows,
                                    std::span<const Marginals> marginals, const Limits& limits) {
  expect_as_many(context, marginals.size());
  Limits of_all = limits;
  of_all.checkpoints = {};
  return scaled<T, A>(context, rows, marginals, of_all, {});
}

template <class T, class A>
Scaling<A> scale(mpi::Context& context, const layout::SparseRows<T>& rows, const Marginals& marginals,
                 const Limits& limits, std::span<const A> start) {
  return std::move(scaled<T>(context, rows, {&marginals, 1}, limits, start).front());
}

template void expect_start(std::span<const double>, std::span<const double>, std::string_view, double, mpi::Alike&);
template void expect_start(std::span<const float>, std::span<const double>, std::string_view, float, mpi::Alike&);

namespace {

template <class A, class Rows>
void multiply(Rows& rows, std::span<const A> u, std::span<const A> v, int threads) {
  PLAIT_ASSERT(static_cast<Index>(u.size()) == rows.rows() && static_cast<Index>(v.size()) == columns_of(rows),
               "there is a factor for each row and column");
  for_all_entries(rows, threads, [&]<class T>(std::size_t i, std::size_t j, T& entry) {
    entry = simd::narrowed<T>(simd::widened<A>(entry) * v[j] * u[i]);
  });
}

}  // namespace

template <class T, class A>
void plan_in_place(matrix_view<T> rows, std::span<const A> u, std::span<const A> v, int threads) {
  multiply(rows, u, v, threads);
}

template <class T, class A>
void plan_in_place(layout::SparseRows<T>& rows, std::span<const A> u, std::span<const A> v, int threads) {
  multiply(rows, u, v, threads);
}

template <class T>
void MarginalSums::add(Index i, std::span<const T> row) {
  double sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    sum += static_cast<double>(row[j]);
    columns[j] += static_cast<double>(row[j]);
  }
  rows[static_cast<std::size_t>(i)] = sum;
}

MarginalErrors MarginalSums::errors(mpi::Context& context) { return errors_of(context, {this, 1}).front(); }

std::vector<MarginalErrors> errors_of(mpi::Context& context, std::span<MarginalSums> plans) {
  if (plans.empty()) return {};
  const std::size_t n = plans.front().columns.size();
  std::vector<double> rows;  // what those of each plan are off by, and its mass
  std::vector<double> columns;
  std::vector<MarginalErrors> errors;
  mpi::agreed(context, [&] {
    errors.reserve(plans.size());
    for (const MarginalSums& plan : plans) {
      double off = 0;
      double mass = 0;
      for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        off += std::abs(plan.rows[i] - plan.marginals->rows[i]);
        mass += plan.rows[i];
      }
      rows.insert(rows.end(), {off, mass});
      columns.insert(columns.end(), plan.columns.begin(), plan.columns.end());
    }
  });
  collective::allreduce(context, std::span<double>(columns), simd::ReduceOperation::sum);
  mpi::all_reduce(context.comm(), std::span<double>(rows), mpi::Operation::sum());
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const CheckedMarginals& marginals = *plans[k].marginals;
    std::copy_n(columns.begin() + static_cast<Index>(k * n), n, plans[k].columns.begin());
    double off = 0;
    for (std::size_t j = 0; j < n; ++j) off += std::abs(plans[k].columns[j] - marginals.columns[j]);
    const double total = marginals.total > 0 ? marginals.total : 1;
    errors.push_back({rows[2 * k] / total, off / total, rows[2 * k + 1]});
  }
  return errors;
}

namespace {

/// Of a plan for each of these marginals, on several threads.
///
/// \param for_each  calls f(column, entry) for the entries of row i of plan k, a double each: for_each(k, i, f)
template <class ForEach>
std::vector<MarginalSums> sums_of_rows(mpi::Context& context, Index rows, std::span<const CheckedMarginals> marginals,
                                       const ForEach& for_each) {
  if (marginals.empty()) return {};
  return mpi::agreed(context, [&] {
    std::vector<MarginalSums> sums;
    for (const CheckedMarginals& of_problem : marginals) sums.emplace_back(of_problem);
    const auto add = [&](const Slab<double>& slab) {
      for (Index i = slab.first; i < slab.first + slab.count; ++i) {
        for (std::size_t k = 0; k < sums.size(); ++k) {
          const auto columns = slab.sums(k);
          double sum = 0;
          for_each(k, i, [&](std::size_t j, double entry) {
            sum += entry;
            columns[j] += entry;
          });
          sums[k].rows[static_cast<std::size_t>(i)] = sum;
        }
      }
    };
    add_up<double>(rows, sums.front().columns.size(), sums.size(), context.topology().threads(), add,
                   [&](std::size_t k) { return std::span(sums[k].columns); });
    return sums;
  });
}

template <class Rows>
MarginalSums sums_of_plan(mpi::Context& context, const Rows& plan, const CheckedMarginals& marginals) {
  const auto entries = [&plan](std::size_t, Index i, const auto& f) {
    for_each_entry(plan, i, [&f](std::size_t j, auto stored) { f(j, simd::widened<double>(stored)); });
  };
  return std::move(sums_of_rows(context, plan.rows(), {&marginals, 1}, entries).front());
}

}  // namespace

template <class T>
MarginalSums marginal_sums(mpi::Context& context, matrix_view<const T> plan, const CheckedMarginals& marginals) {
  return sums_of_plan(context, plan, marginals);
}

template <class T>
MarginalSums marginal_sums(mpi::Context& context, const layout::SparseRows<T>& plan,
                           const CheckedMarginals& marginals) {
  return sums_of_plan(context, plan, marginals);
}

template <class T, class A>
std::vector<MarginalErrors> marginal_errors(mpi::Context& context, matrix_view<const T> rows,
                                            std::span<const Scaling<A>> scalings,
                                            std::span<const CheckedMarginals> marginals) {
  auto sums = sums_of_rows(context, rows.rows(), marginals, [&](std::size_t k, Index i, const auto& f) {
    const T* const row = rows.data() + i * rows.leading_dimension();
    const A u = scalings[k].u[static_cast<std::size_t>(i)];
    const std::vector<A>& v = scalings[k].v;
    for (std::size_t j = 0; j < v.size(); ++j) f(j, static_cast<double>(simd::widened<A>(row[j]) * v[j] * u));
  });
  return errors_of(context, sums);
}

template void MarginalSums::add(Index, std::span<const double>);
template void MarginalSums::add(Index, std::span<const float>);

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                                                        \
  template Scaling<A> scale(mpi::Context&, matrix_view<const T>, const Marginals&, const Limits&, std::span<const A>); \
  template std::vector<Scaling<A>> scale_batch(mpi::Context&, matrix_view<const T>, std::span<const Marginals>,        \
                                               const Limits&);                                                         \
  template void plan_in_place(matrix_view<T>, std::span<const A>, std::span<const A>, int);                            \
  template std::vector<MarginalErrors> marginal_errors(mpi::Context&, matrix_view<const T>,                            \
                                                       std::span<const Scaling<A>>, std::span<const CheckedMarginals>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(T, A)                                                                           \
  template Scaling<A> scale(mpi::Context&, const layout::SparseRows<T>&, const Marginals&, const Limits&, \
                            std::span<const A>);                                                          \
  template void plan_in_place(layout::SparseRows<T>&, std::span<const A>, std::span<const A>, int)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

template MarginalSums marginal_sums(mpi::Context&, matrix_view<const double>, const CheckedMarginals&);
template MarginalSums marginal_sums(mpi::Context&, matrix_view<const float>, const CheckedMarginals&);
template MarginalSums marginal_sums(mpi::Context&, matrix_view<const simd::BFloat16>, const CheckedMarginals&);
template MarginalSums marginal_sums(mpi::Context&, const layout::SparseRows<double>&, const CheckedMarginals&);
template MarginalSums marginal_sums(mpi::Context&, const layout::SparseRows<float>&, const CheckedMarginals&);

}  // namespace plait::sinkhorn
