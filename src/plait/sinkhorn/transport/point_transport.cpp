#include "plait/sinkhorn/transport/point_transport.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/costs/point_costs.hpp"
#include "plait/sinkhorn/marginals/first_failure.hpp"
#include "plait/sinkhorn/transport/epsilon.hpp"
#include "plait/sinkhorn/transport/point_checks.hpp"
#include "plait/sinkhorn/transport/transport_checks.hpp"
#include "plait/sinkhorn/transport/transport_iterations.hpp"

namespace plait::sinkhorn {

template <class A>
Transport<A> transport(mpi::Context& context, const PointClouds<A>& clouds, const Marginals& marginals,
                       const TransportOptions& options, std::span<const A> start) {
  const double highest = checked_highest_cost(context, clouds, options);
  const CheckedMarginals checked = checked_masses_of(context, clouds.x.rows(), clouds.y.rows(), marginals, options.rho);
  FirstFailure failure(1);
  expect_points_for_each<A>(context, clouds, {&checked, 1}, options.rho, failure);
  failure.expect_none(context);
  auto costs = mpi::agreed(context, [&] { return PointCosts<A>(clouds); });
  TransportOptions how = options;
  how.domain = Domain::logarithmic;
  auto found = transports_of<A>(context, costs, {&checked, 1}, highest, how, start);
  return std::move(found.front());
}

template <class A>
void for_each_plan_row(const PointClouds<A>& clouds, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit) {
  PointCosts<A> costs(clouds);
  costs.set_epsilon(epsilon, 1);
  costs.for_each_row(in_units_of(epsilon, f), in_units_of(epsilon, g),
                     [&](const PlanRow<A>& row) { visit(row.row, row.plan); });
}

template <class A>
std::vector<A> barycentric_projection(const PointClouds<A>& clouds, double epsilon, std::span<const A> g) {
  const Index coordinates = clouds.y.columns();
  const Index points = clouds.y.rows();
  PLAIT_ASSERT(static_cast<Index>(g.size()) == points, "there is a potential for each point of y");
  std::vector<A> by_coordinate(static_cast<std::size_t>(coordinates * points));
  for (Index k = 0; k < coordinates; ++k) {
    for (Index j = 0; j < points; ++j) {
      by_coordinate[static_cast<std::size_t>(k * points + j)] = clouds.y.data()[j * clouds.y.leading_dimension() + k];
    }
  }
  const auto kernels = simd::scaling_kernels<A, A>();
  std::vector<A> map(static_cast<std::size_t>(clouds.x.rows() * coordinates));
  PointCosts<A> costs(clouds);
  costs.set_epsilon(epsilon, 1);
  costs.for_each_weights(in_units_of(epsilon, g), [&](Index i, std::span<const A> weights) {
    A* to = map.data() + i * coordinates;
    kernels.row_sums({by_coordinate.data(), coordinates, points, std::max(Index{1}, points)}, weights.data(), to, {});
    double sum = 0;
    for (const A weight : weights) sum += static_cast<double>(weight);
    for (Index k = 0; k < coordinates; ++k) to[k] = static_cast<A>(static_cast<double>(to[k]) / sum);
  });
  return map;
}

#define PLAIT_INSTANTIATE(A)                                                                                       \
  template Transport<A> transport(mpi::Context&, const PointClouds<A>&, const Marginals&, const TransportOptions&, \
                                  std::span<const A>);                                                             \
  template void for_each_plan_row(const PointClouds<A>&, double, std::span<const A>, std::span<const A>,           \
                                  const std::function<void(Index, std::span<const A>)>&);                          \
  template std::vector<A> barycentric_projection(const PointClouds<A>&, double, std::span<const A>)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
