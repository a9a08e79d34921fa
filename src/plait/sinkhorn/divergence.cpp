#include "plait/sinkhorn/divergence.hpp"

#include <span>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sinkhorn {

namespace {

template <class T>
void expect_shape(std::string_view what, matrix_view<const T> costs, Index all_rows, Index expected) {
  if (all_rows == expected && costs.columns() == expected) return;
  throw ArgumentError(fmt::format("the costs among the {} are {} x {}, expected {} x {}", what, all_rows,
                                  costs.columns(), expected, expected));
}

/// The potentials of a transport from masses to themselves are those of both sides in the mean, as any number may be
/// taken from one side and given to the other.
template <class A>
std::vector<A> gradient(std::span<const A> between, std::span<const A> f, std::span<const A> g,
                        std::span<const double> masses) {
  std::vector<A> result;
  for (std::size_t i = 0; i < between.size(); ++i) {
    result.push_back(masses[i] == 0 ? A{0} : between[i] - (f[i] + g[i]) / 2);
  }
  return result;
}

template <class A>
std::vector<A> of_all_ranks(mpi::Context& context, const std::vector<A>& own) {
  const auto counts = mpi::all_gather(context.comm(), static_cast<Index>(own.size()));
  Index count = 0;
  for (const Index of_rank : counts) count += of_rank;
  auto all = mpi::agreed(context, [&] { return std::vector<A>(static_cast<std::size_t>(count)); });
  collective::all_gather(context, std::span<const A>(own), std::span<A>(all), counts);
  return all;
}

}  // namespace

template <class T, class A>
Divergence<A> divergence(mpi::Context& context, const CostsOfDivergence<T>& costs, const Marginals& marginals,
                         const TransportOptions& options) {
  mpi::agreed(context, [&] {
    if (!options.rho.is_balanced()) {
      throw ArgumentError("rho is finite, expected balanced transport: the divergence is one of masses of one total");
    }
    if (costs.rows.rows() != costs.between.rows()) {
      throw ArgumentError(fmt::format("this rank has {} rows of the costs among the rows, expected {}",
                                      costs.rows.rows(), costs.between.rows()));
    }
  });
  const CheckedMarginals checked = checked_marginals(context, costs.between.rows(), costs.between.columns(), marginals);
  const Index all_of_columns = mpi::all_reduce(context.comm(), costs.columns.rows(), mpi::Operation::sum());
  mpi::agreed(context, [&] {
    expect_shape("rows", costs.rows, checked.all_rows, checked.all_rows);
    expect_shape("columns", costs.columns, all_of_columns, costs.between.columns());
  });
  const auto all_rows = of_all_ranks(context, checked.rows);
  const auto first_column = static_cast<std::size_t>(mpi::sum_below(context.comm(), costs.columns.rows()));
  const auto own_columns =
      std::span<const double>(checked.columns).subspan(first_column, static_cast<std::size_t>(costs.columns.rows()));

  const auto between = transport<T, A>(context, costs.between, {checked.rows, checked.columns}, options);
  const auto rows = transport<T, A>(context, costs.rows, {checked.rows, all_rows}, options);
  const auto columns = transport<T, A>(context, costs.columns, {own_columns, checked.columns}, options);

  Divergence<A> result;
  result.outcome = between.outcome;
  for (const Transport<A>* within : {&rows, &columns}) {
    if (result.outcome.status == Status::converged) result.outcome = within->outcome;
  }
  if (result.outcome.status == Status::converged) result.outcome = between.outcome;
  result.between = between.dual;
  result.rows = rows.dual;
  result.columns = columns.dual;
  result.value = between.dual - rows.dual / 2 - columns.dual / 2;
  const auto f_of_columns = of_all_ranks(context, columns.f);
  mpi::agreed(context, [&] {
    result.row_gradient = gradient<A>(
        between.f, rows.f,
        std::span<const A>(rows.g).subspan(static_cast<std::size_t>(checked.first_row), rows.f.size()), checked.rows);
    result.column_gradient = gradient<A>(between.g, f_of_columns, columns.g, checked.columns);
  });
  return result;
}

#define PLAIT_INSTANTIATE(T, A)                                                                   \
  template Divergence<A> divergence(mpi::Context&, const CostsOfDivergence<T>&, const Marginals&, \
                                    const TransportOptions&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
