#include "plait/sinkhorn/transport/plan_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

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
std::array<double, sums_of_a_plan> sums_of_plan(CostOperand<A>& costs, const PlanToEvaluate<A>& plan, const Rho& rho,
                                                std::span<double> columns) {
  std::array<double, sums_of_a_plan> sums{};
  const std::vector<A>& f = plan.result->f;
  const std::vector<A>& g = plan.result->g;
  costs.for_each_row(f, g, [&](const PlanRow<A>& row) {
    const auto of_row = static_cast<double>(f[static_cast<std::size_t>(row.row)]);
    const double given = plan.masses->rows[static_cast<std::size_t>(row.row)];
    double mass = 0;
    double potentials = 0;
    for (std::size_t j = 0; j < row.plan.size(); ++j) {
      const auto entry = static_cast<double>(row.plan[j]);
      if (entry == 0) continue;
      mass += entry;
      potentials += (of_row + static_cast<double>(g[j])) * entry;
      if (!columns.empty()) columns[j] += entry;
    }
    sums[0] += row.cost;
    sums[1] += mass;
    sums[2] += potentials;
    sums[3] += dual_term(of_row, given, rho.rows);
    sums[4] += rho.rows == infinity ? 0 : divergence(mass, given);
  });
  return sums;
}

}  // namespace

template <class A>
void evaluate_plans(mpi::Context& context, CostOperand<A>& costs, std::span<const PlanToEvaluate<A>> plans,
                    double epsilon, const Rho& given_rho) {
  if (plans.empty()) return;
  const Rho rho{given_rho.rows / epsilon, given_rho.columns / epsilon};
  const std::size_t n = rho.columns == infinity ? 0 : static_cast<std::size_t>(costs.columns());
  std::vector<double> columns;  // sums of those of each plan, where they matter
  std::vector<double> all;      // sums of each plan
  mpi::agreed(context, [&] {
    columns.resize(n * plans.size());
    all.resize(sums_of_a_plan * plans.size());
    for (std::size_t k = 0; k < plans.size(); ++k) {
      const auto own = sums_of_plan(costs, plans[k], rho, std::span(columns).subspan(k * n, n));
      std::ranges::copy(own, all.begin() + static_cast<Index>(k * own.size()));
    }
  });
  mpi::all_reduce(context.comm(), std::span<double>(all), mpi::Operation::sum());
  collective::allreduce(context, std::span<double>(columns), simd::ReduceOperation::sum);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const CheckedMarginals& masses = *plans[k].masses;
    Transport<A>& result = *plans[k].result;
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

template void evaluate_plans(mpi::Context&, CostOperand<double>&, std::span<const PlanToEvaluate<double>>, double,
                             const Rho&);
template void evaluate_plans(mpi::Context&, CostOperand<float>&, std::span<const PlanToEvaluate<float>>, double,
                             const Rho&);

}  // namespace plait::sinkhorn
