#include "plait/sinkhorn/transport/transport_batch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/costs/stored_costs.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/scaling/scale_batch.hpp"
#include "plait/sinkhorn/transport/transport_iterations.hpp"

namespace plait::sinkhorn {

namespace {

/// What `transport` would do without a word of first epsilons, domains and prices.
bool is_plain(const TransportOptions& options) {
  return options.rho.is_balanced() && options.over_relaxation == 1 && options.domain != Domain::logarithmic &&
         (options.first_epsilon == 0 || options.first_epsilon == options.epsilon);
}

/// All problems by factors of the exponentials of the costs; null for those that need logarithms.
template <class T, class A>
std::vector<std::optional<Transport<A>>> by_factors(mpi::Context& context, matrix_view<const T> costs,
                                                    std::span<const Marginals> marginals,
                                                    std::span<const CheckedMarginals> masses, double highest,
                                                    const TransportOptions& options) {
  std::vector<std::optional<Transport<A>>> results(marginals.size());
  StoredCosts<T, A> stored(costs);
  std::vector<double> needed(static_cast<std::size_t>(costs.columns()));
  for (const CheckedMarginals& of_problem : masses) {
    std::ranges::transform(needed, of_problem.columns, needed.begin(),
                           [](double a, double b) { return std::max(a, b); });
  }
  if (!(highest / options.epsilon <= widest_factors<A>)) return results;

  const Index leading_dimension = std::max(Index{1}, costs.columns());
  Array<A> kernel;
  std::vector<A> f;
  std::vector<A> zeros;
  std::vector<A> ones;
  std::vector<A> sums;
  mpi::agreed(context, [&] {
    kernel = Array<A>(costs.rows() * leading_dimension);
    f.resize(static_cast<std::size_t>(costs.rows()));
    zeros.resize(needed.size());
    ones.resize(f.size(), A{1});
    sums.resize(needed.size());
    stored.set_epsilon(options.epsilon, 1);
  });
  const matrix_view<A> matrix(kernel.data(), costs.rows(), costs.columns(), leading_dimension, StorageOrder::row_major);
  stored.fill(matrix, f, zeros);
  simd::scaling_kernels<A, A>().column_sums({matrix.data(), costs.rows(), costs.columns(), leading_dimension},
                                            ones.data(), sums.data(), {});
  collective::allreduce(context, std::span<A>(sums), simd::ReduceOperation::sum);
  for (std::size_t j = 0; j < sums.size(); ++j) {
    constexpr A lowest = std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();
    if (needed[j] > 0 && !(sums[j] > lowest)) return results;
  }
  auto scalings = scale_batch<A, A>(context, matrix, marginals, options.limits);
  for (std::size_t k = 0; k < scalings.size(); ++k) {
    Scaling<A>& scaling = scalings[k];
    if (scaling.outcome.status == Status::numerical_limit) continue;
    Transport<A> result;
    const auto moved = [](A potential, A factor) {
      return static_cast<A>(static_cast<double>(potential) + std::log(static_cast<double>(factor)));
    };
    result.f = std::move(scaling.u);
    result.g = std::move(scaling.v);
    for (std::size_t i = 0; i < f.size(); ++i) result.f[i] = moved(f[i], result.f[i]);
    for (A& potential : result.g) potential = moved(A{0}, potential);
    result.stages = {{options.epsilon, scaling.outcome.iterations, Domain::factors}};
    result.outcome = std::move(scaling.outcome);
    evaluate_plan(context, stored, masses[k], options.epsilon, options.rho, result);
    for (std::vector<A>* potentials : {&result.f, &result.g}) {
      for (A& potential : *potentials) potential = static_cast<A>(static_cast<double>(potential) * options.epsilon);
    }
    results[k] = std::move(result);
  }
  return results;
}

}  // namespace

template <class T, class A>
std::vector<Transport<A>> transport_batch(mpi::Context& context, matrix_view<const T> costs,
                                          std::span<const Marginals> marginals, const TransportOptions& given) {
  TransportOptions options = given;
  options.keep = {};
  options.from = nullptr;
  mpi::agreed(context, [&] {
    expect_suitable(options);
    if (!costs.empty() && costs.order() != StorageOrder::row_major) {
      throw ArgumentError(
          "the costs are column-major, expected row-major: their transpose is, with marginals exchanged");
    }
  });
  expect_as_many(context, marginals.size());
  double highest = 0;
  std::vector<CheckedMarginals> masses;
  for (std::size_t k = 0; k < marginals.size(); ++k) {
    naming_problem(k, [&] {
      masses.push_back(checked_masses_of(context, costs.rows(), costs.columns(), marginals[k], options.rho));
      highest = check_costs<T>(context, costs, masses_that_are_had(context, masses.back(), options.rho));
    });
  }
  std::vector<std::optional<Transport<A>>> found(marginals.size());
  if (is_plain(options)) found = by_factors<T, A>(context, costs, marginals, masses, highest, options);
  std::vector<CheckedMarginals> left;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!found[k]) left.push_back(std::move(masses[k]));
  }
  StoredCosts<T, A> stored(costs);
  auto others = transports_of<A>(context, stored, left, highest, options, {});
  std::vector<Transport<A>> results;
  auto next = others.begin();
  for (auto& each : found) results.push_back(each ? std::move(*each) : std::move(*next++));
  return results;
}

template <class A>
std::vector<Transport<A>> transport_batch(mpi::Context& context, const PointClouds<A>& clouds,
                                          std::span<const Marginals> marginals, const TransportOptions& given) {
  TransportOptions options = given;
  options.keep = {};
  options.from = nullptr;
  options.domain = Domain::logarithmic;
  const double highest = checked_highest_cost<A>(context, clouds, given);
  expect_as_many(context, marginals.size());
  std::vector<CheckedMarginals> masses;
  for (std::size_t k = 0; k < marginals.size(); ++k) {
    naming_problem(k,
                   [&] { masses.push_back(checked_masses_of_points<A>(context, clouds, marginals[k], options.rho)); });
  }
  auto costs = mpi::agreed(context, [&] { return PointCosts<A>(clouds); });
  return transports_of<A>(context, costs, masses, highest, options, {});
}

#define PLAIT_INSTANTIATE(T, A)                                                                                       \
  template std::vector<Transport<A>> transport_batch(mpi::Context&, matrix_view<const T>, std::span<const Marginals>, \
                                                     const TransportOptions&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

template std::vector<Transport<double>> transport_batch(mpi::Context&, const PointClouds<double>&,
                                                        std::span<const Marginals>, const TransportOptions&);
template std::vector<Transport<float>> transport_batch(mpi::Context&, const PointClouds<float>&,
                                                       std::span<const Marginals>, const TransportOptions&);

}  // namespace plait::sinkhorn
