#include "plait/sinkhorn/transport/transport.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "plait/base/memory.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/costs/stored_costs.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/sweep/log_sweep.hpp"
#include "plait/sinkhorn/transport/epsilon.hpp"
#include "plait/sinkhorn/transport/reduced_costs.hpp"
#include "plait/sinkhorn/transport/transport_checks.hpp"
#include "plait/sinkhorn/transport/transport_iterations.hpp"

namespace plait::sinkhorn {

namespace {

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

template <class T, class A>
Transport<A> transport(mpi::Context& context, matrix_view<const T> costs, const Marginals& marginals,
                       const TransportOptions& options, std::span<const A> start) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    expect_suitable(options, arguments);
    expect_row_major(costs);
  });
  const CheckedMarginals masses = checked_masses_of(context, costs.rows(), costs.columns(), marginals, options.rho);
  const double highest =
      check_costs<T>(context, costs, masses_that_are_had(context, {&masses, 1}, options.rho).front());
  const auto reduced = reduced_costs<T, A>(context, costs, highest, options);
  StoredCosts<T, A> stored(reduced ? reduced->costs : costs);
  auto found = transports_of<A>(context, stored, {&masses, 1}, reduced ? reduced->highest : highest, options, start);
  if (reduced) undo_reduction<T, A>(context, *reduced, {&masses, 1}, found);
  return std::move(found.front());
}

template <class A>
CheckedMarginals wanted_masses(mpi::Context& context, const Marginals& marginals, const Rho& rho, std::span<const A> f,
                               std::span<const A> g) {
  CheckedMarginals wanted =
      checked_masses_of(context, static_cast<Index>(f.size()), static_cast<Index>(g.size()), marginals, rho);
  if (rho.is_balanced()) return wanted;
  const double of_rows = relaxed_total<A>(wanted, rho, f, g);
  wanted.total = mpi::all_reduce(context.comm(), of_rows, mpi::Operation::sum());
  return wanted;
}

template <class A>
std::vector<CheckedMarginals> wanted_masses_of_each(mpi::Context& context, std::span<const Marginals> marginals,
                                                    const Rho& rho, std::span<const Transport<A>> found) {
  if (found.empty()) return {};
  const auto rows = static_cast<Index>(found.front().f.size());
  const auto columns = static_cast<Index>(found.front().g.size());
  auto wanted = checked_masses_of_each(context, rows, columns, marginals, rho);
  if (rho.is_balanced()) return wanted;
  auto totals = mpi::agreed(context, [&] { return std::vector<double>(wanted.size()); });
  for (std::size_t k = 0; k < wanted.size(); ++k) totals[k] = relaxed_total<A>(wanted[k], rho, found[k].f, found[k].g);
  mpi::all_reduce(context.comm(), std::span<double>(totals), mpi::Operation::sum());
  for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k].total = totals[k];
  return wanted;
}

template <class T, class A>
void for_each_plan_row(matrix_view<const T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit, const CostOffsets& offsets) {
  const std::vector<A> f_units = in_units_of(epsilon, f);
  const std::vector<A> g_units = in_units_of(epsilon, g);
  if (offsets.empty()) return LogSweep<T, A>(costs, epsilon).for_each_row(f_units, g_units, visit);
  Array<T> row(costs.columns());
  for (Index i = 0; i < costs.rows(); ++i) {
    for (Index j = 0; j < costs.columns(); ++j) row[j] = reduced_cost(costs(i, j), i, j, offsets);
    const matrix_view<const T> one(row.data(), 1, costs.columns(), std::max<Index>(costs.columns(), 1),
                                   StorageOrder::row_major);
    LogSweep<T, A>(one, epsilon)
        .for_each_row(std::span(f_units).subspan(static_cast<std::size_t>(i), 1), g_units,
                      [&](Index, std::span<const A> plan) { visit(i, plan); });
  }
}

template <class T, class A>
void transport_plan_in_place(matrix_view<T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                             const CostOffsets& offsets) {
  const auto write = [&](Index i, std::span<const A> plan) {
    T* row = costs.data() + i * costs.leading_dimension();
    std::ranges::transform(plan, row, [](A entry) { return static_cast<T>(entry); });
  };
  for_each_plan_row<T, A>(costs, epsilon, f, g, write, offsets);
}

#define PLAIT_INSTANTIATE(T, A)                                                                                   \
  template Transport<A> transport(mpi::Context&, matrix_view<const T>, const Marginals&, const TransportOptions&, \
                                  std::span<const A>);                                                            \
  template void for_each_plan_row(matrix_view<const T>, double, std::span<const A>, std::span<const A>,           \
                                  const std::function<void(Index, std::span<const A>)>&, const CostOffsets&);     \
  template void transport_plan_in_place(matrix_view<T>, double, std::span<const A>, std::span<const A>,           \
                                        const CostOffsets&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

template CheckedMarginals wanted_masses(mpi::Context&, const Marginals&, const Rho&, std::span<const double>,
                                        std::span<const double>);
template CheckedMarginals wanted_masses(mpi::Context&, const Marginals&, const Rho&, std::span<const float>,
                                        std::span<const float>);
template std::vector<CheckedMarginals> wanted_masses_of_each(mpi::Context&, std::span<const Marginals>, const Rho&,
                                                             std::span<const Transport<double>>);
template std::vector<CheckedMarginals> wanted_masses_of_each(mpi::Context&, std::span<const Marginals>, const Rho&,
                                                             std::span<const Transport<float>>);

}  // namespace plait::sinkhorn
