#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/memory.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/transport/stages.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

namespace {

/// Σ p log(p / q) - p + q of one pair; q = 0 has p = 0.
double divergence(double p, double q) { return p > 0 && q > 0 ? p * std::log(p / q) - p + q : q; }

/// What a potential, in units of epsilon, adds to the dual value, in the same units. `rho` is in these, too.
double dual_term(double potential, double marginal, double rho) {
  if (marginal == 0) return 0;
  if (rho == infinity) return potential * marginal;
  // Where nothing is moved the potential has no upper bound.
  return potential == -infinity ? rho * marginal : -rho * marginal * std::expm1(-potential / rho);
}

constexpr std::size_t sums_of_a_plan = 5;

/// Σ C P, Σ P, Σ (f + g) P, the dual terms and the divergence of this rank's rows.
///
/// \param columns  where their sums are added up, unless it is empty
template <class A>
std::array<double, sums_of_a_plan> sums_of_plan(CostOperand<A>& costs, const TransportProblem<A>& problem,
                                                const Rho& rho, std::span<double> columns) {
  const std::vector<A>& f = problem.result.f;
  std::vector<double> rows(f.size());
  const auto [cost, mass, potentials] = costs.sum_up(f, problem.result.g, rows, columns);
  std::array<double, sums_of_a_plan> sums{cost, mass, potentials};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double given = problem.masses->rows[i];
    sums[3] += dual_term(static_cast<double>(f[i]), given, rho.rows);
    sums[4] += rho.rows == infinity ? 0 : divergence(rows[i], given);
  }
  return sums;
}

/// Potentials in units of epsilon.
template <class A>
std::vector<A> in_units_of(double epsilon, std::span<const A> potentials) {
  std::vector<A> units;
  units.reserve(potentials.size());
  for (const A potential : potentials) units.push_back(static_cast<A>(static_cast<double>(potential) / epsilon));
  return units;
}

/// What sums are to be with these potentials.
///
/// \return  the sum of this rank's rows
template <class A>
double relaxed_total(CheckedMarginals& wanted, const Rho& rho, std::span<const A> f, std::span<const A> g) {
  const auto relax_side = [](std::vector<double>& masses, double of, std::span<const A> potentials) {
    if (of == infinity) return;
    for (std::size_t k = 0; k < masses.size(); ++k) {
      const auto potential = static_cast<double>(potentials[k]);
      masses[k] = potential == -infinity ? 0 : masses[k] * std::exp(-potential / of);
    }
  };
  relax_side(wanted.rows, rho.rows, f);
  relax_side(wanted.columns, rho.columns, g);
  double of_rows = 0;
  for (const double mass : wanted.rows) of_rows += mass;
  return of_rows;
}

/// In the order and to the precision in which `reduced_costs` takes offsets off.
template <class T>
T reduced_cost(T cost, Index i, Index j, const CostOffsets& offsets) {
  const auto less_row = static_cast<T>(static_cast<double>(cost) - offsets.rows[static_cast<std::size_t>(i)]);
  return static_cast<T>(static_cast<double>(less_row) - offsets.columns[static_cast<std::size_t>(j)]);
}

}  // namespace

template <class A>
void evaluate_plans(mpi::Context& context, CostOperand<A>& costs, std::span<TransportProblem<A>* const> problems,
                    double epsilon, const Rho& given_rho) {
  if (problems.empty()) return;
  const Rho rho{given_rho.rows / epsilon, given_rho.columns / epsilon};
  const std::size_t n = rho.columns == infinity ? 0 : static_cast<std::size_t>(costs.columns());
  std::vector<double> columns;  // sums of those of each plan, where they matter
  std::vector<double> all;      // sums of each plan
  mpi::agreed(context, [&] {
    columns.resize(n * problems.size());
    all.resize(sums_of_a_plan * problems.size());
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const auto own = sums_of_plan(costs, *problems[k], rho, std::span(columns).subspan(k * n, n));
      std::ranges::copy(own, all.begin() + static_cast<Index>(k * own.size()));
    }
  });
  mpi::all_reduce(context.comm(), std::span<double>(all), mpi::Operation::sum());
  collective::allreduce(context, std::span<double>(columns), simd::ReduceOperation::sum);
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const CheckedMarginals& masses = *problems[k]->masses;
    Transport<A>& result = problems[k]->result;
    const double* const sums = all.data() + k * sums_of_a_plan;
    double dual = sums[3];
    for (std::size_t j = 0; j < result.g.size(); ++j) {
      dual += dual_term(static_cast<double>(result.g[j]), masses.columns[j], rho.columns);
    }
    for (std::size_t j = 0; j < n; ++j) result.column_divergence += divergence(columns[k * n + j], masses.columns[j]);
    result.row_divergence = sums[4];
    result.cost = sums[0];
    result.mass = sums[1];
    result.primal = epsilon * (sums[2] - sums[1]);
    if (rho.rows < infinity) result.primal += given_rho.rows * result.row_divergence;
    if (rho.columns < infinity) result.primal += given_rho.columns * result.column_divergence;
    result.dual = epsilon * (dual - sums[1]);
  }
}

template <class A>
std::vector<CheckedMarginals> wanted_masses(mpi::Context& context, std::span<const Marginals> marginals, const Rho& rho,
                                            std::span<const Transport<A>> found) {
  if (found.empty()) return {};
  const auto rows = static_cast<Index>(found.front().f.size());
  const auto columns = static_cast<Index>(found.front().g.size());
  auto wanted = checked_marginals_of_each(context, rows, columns, marginals, totals_of(rho));
  if (rho.is_balanced()) return wanted;
  auto totals = mpi::agreed(context, [&] { return std::vector<double>(wanted.size()); });
  for (std::size_t k = 0; k < wanted.size(); ++k) totals[k] = relaxed_total<A>(wanted[k], rho, found[k].f, found[k].g);
  mpi::all_reduce(context.comm(), std::span<double>(totals), mpi::Operation::sum());
  for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k].total = totals[k];
  return wanted;
}

template <class T, class A>
void for_each_plan_row(matrix_view<const T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit, const CostOffsets& offsets,
                       int threads) {
  const std::vector<A> f_units = in_units_of(epsilon, f);
  const std::vector<A> g_units = in_units_of(epsilon, g);
  const auto over = [&](matrix_view<const T> rows) {
    StoredCosts<T, A> stored(rows, threads);
    stored.set_epsilon(epsilon, 1);
    return stored;
  };
  if (offsets.empty()) return over(costs).for_each_row(f_units, g_units, visit);
  Array<T> row(costs.columns());
  const auto reduced =
      over({row.data(), 1, costs.columns(), std::max<Index>(costs.columns(), 1), StorageOrder::row_major});
  for (Index i = 0; i < costs.rows(); ++i) {
    for (Index j = 0; j < costs.columns(); ++j) row[j] = reduced_cost(costs(i, j), i, j, offsets);
    reduced.for_each_row(std::span(f_units).subspan(static_cast<std::size_t>(i), 1), g_units,
                         [&](Index, std::span<const A> plan) { visit(i, plan); });
  }
}

template <class T, class A>
void transport_plan_in_place(matrix_view<T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                             const CostOffsets& offsets, int threads) {
  const auto write = [&](Index i, std::span<const A> plan) {
    T* row = costs.data() + i * costs.leading_dimension();
    std::ranges::transform(plan, row, [](A entry) { return static_cast<T>(entry); });
  };
  for_each_plan_row<T, A>(costs, epsilon, f, g, write, offsets, threads);
}

template <class A>
void for_each_plan_row(const PointClouds<A>& clouds, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit, int threads) {
  const auto costs = point_costs<A>(clouds, threads);
  costs->set_epsilon(epsilon, 1);
  costs->for_each_row(in_units_of(epsilon, f), in_units_of(epsilon, g), visit);
}

template <class A>
void plan_sums(mpi::Context& context, const PointClouds<A>& clouds, double epsilon, std::span<const A> f,
               std::span<const A> g, std::span<double> rows, std::span<double> columns) {
  const auto costs = point_costs<A>(clouds, context.topology().threads());
  costs->set_epsilon(epsilon, 1);
  static_cast<void>(costs->sum_up(in_units_of(epsilon, f), in_units_of(epsilon, g), rows, columns));
}

template <class A>
std::vector<A> barycentric_projection(const PointClouds<A>& clouds, double epsilon, std::span<const A> g, int threads) {
  const Index coordinates = clouds.y.columns();
  const Index points = clouds.y.rows();
  PLAIT_ASSERT(static_cast<Index>(g.size()) == points, "there is a potential for each point of y");
  const std::vector<A> g_units = in_units_of(epsilon, g);
  if (clouds.grid) return mean_places<A>(clouds, epsilon, g_units, threads);
  std::vector<A> by_coordinate(static_cast<std::size_t>(coordinates * points));
  for (Index k = 0; k < coordinates; ++k) {
    for (Index j = 0; j < points; ++j) {
      by_coordinate[static_cast<std::size_t>(k * points + j)] = clouds.y.data()[j * clouds.y.leading_dimension() + k];
    }
  }
  const auto kernels = simd::scaling_kernels<A, A>();
  std::vector<A> map(static_cast<std::size_t>(clouds.x.rows() * coordinates));
  std::vector<A> weights_of_threads(g.size() * static_cast<std::size_t>(threads));
  const auto costs = point_costs<A>(clouds, threads);
  costs->set_epsilon(epsilon, 1);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (Index i = 0; i < clouds.x.rows(); ++i) {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const auto weights = std::span(weights_of_threads).subspan(thread * g.size(), g.size());
    static_cast<void>(costs->fill_row(i, g_units, weights.data()));
    A* to = map.data() + i * coordinates;
    kernels.row_sums({by_coordinate.data(), coordinates, points, std::max(Index{1}, points)}, weights.data(), to, {});
    double sum = 0;
    for (const A weight : weights) sum += static_cast<double>(weight);
    for (Index k = 0; k < coordinates; ++k) to[k] = static_cast<A>(static_cast<double>(to[k]) / sum);
  }
  return map;
}

#define PLAIT_INSTANTIATE(T, A)                                                                                    \
  template void for_each_plan_row(matrix_view<const T>, double, std::span<const A>, std::span<const A>,            \
                                  const std::function<void(Index, std::span<const A>)>&, const CostOffsets&, int); \
  template void transport_plan_in_place(matrix_view<T>, double, std::span<const A>, std::span<const A>,            \
                                        const CostOffsets&, int)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(A)                                                                                    \
  template std::vector<CheckedMarginals> wanted_masses(mpi::Context&, std::span<const Marginals>, const Rho&,   \
                                                       std::span<const Transport<A>>);                          \
  template void for_each_plan_row(const PointClouds<A>&, double, std::span<const A>, std::span<const A>,        \
                                  const std::function<void(Index, std::span<const A>)>&, int);                  \
  template void plan_sums(mpi::Context&, const PointClouds<A>&, double, std::span<const A>, std::span<const A>, \
                          std::span<double>, std::span<double>);                                                \
  template std::vector<A> barycentric_projection(const PointClouds<A>&, double, std::span<const A>, int);       \
  template void evaluate_plans(mpi::Context&, CostOperand<A>&, std::span<TransportProblem<A>* const>, double,   \
                               const Rho&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
