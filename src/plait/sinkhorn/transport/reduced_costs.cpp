#include "plait/sinkhorn/transport/reduced_costs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

/// Calls f(i, j, cost) for each that is finite.
template <class T, class F>
void for_each_finite(matrix_view<T> costs, const F& f) {
  for (Index i = 0; i < costs.rows(); ++i) {
    for (Index j = 0; j < costs.columns(); ++j) {
      if (std::isfinite(costs(i, j))) f(static_cast<std::size_t>(i), static_cast<std::size_t>(j), costs(i, j));
    }
  }
}

/// Where there is nothing but infinite costs, nothing is taken off.
void take_off_nothing_where_infinite(std::vector<double>& least) {
  for (double& one : least) one = one == infinity ? 0 : one;
}

/// In the matrix, whose rows are a rank's: what was taken off.
template <class T>
CostOffsets reduce(mpi::Context& context, matrix_view<T> costs, const Rho& rho) {
  CostOffsets offsets;
  mpi::agreed(context, [&] {
    offsets.rows.resize(static_cast<std::size_t>(costs.rows()), infinity);
    offsets.columns.resize(static_cast<std::size_t>(costs.columns()), infinity);
  });
  if (rho.rows == infinity) {
    for_each_finite(costs, [&](std::size_t i, std::size_t, T cost) {
      offsets.rows[i] = std::min(offsets.rows[i], static_cast<double>(cost));
    });
  }
  take_off_nothing_where_infinite(offsets.rows);
  for_each_finite(costs, [&](std::size_t i, std::size_t j, T) {
    T& cost = costs(static_cast<Index>(i), static_cast<Index>(j));
    cost = static_cast<T>(static_cast<double>(cost) - offsets.rows[i]);
  });
  if (rho.columns == infinity) {
    for_each_finite(costs, [&](std::size_t, std::size_t j, T cost) {
      offsets.columns[j] = std::min(offsets.columns[j], static_cast<double>(cost));
    });
    mpi::all_reduce(context.comm(), std::span<double>(offsets.columns), mpi::Operation::minimum());
  }
  take_off_nothing_where_infinite(offsets.columns);
  for_each_finite(costs, [&](std::size_t i, std::size_t j, T) {
    T& cost = costs(static_cast<Index>(i), static_cast<Index>(j));
    cost = static_cast<T>(static_cast<double>(cost) - offsets.columns[j]);
  });
  return offsets;
}

}  // namespace

template <class T, class A>
std::optional<ReducedCosts<T>> reduced_costs(mpi::Context& context, matrix_view<const T> costs, double highest,
                                             const TransportOptions& options) {
  // In epsilons, what plans suffer from it.
  constexpr double fine_rounding = 1e-3;
  const bool is_beyond = beyond_range<A>(highest, options.epsilon).has_value();
  const bool is_coarse = highest / options.epsilon * roundoff_of<A>() > fine_rounding;
  const bool may_be_reduced = options.rho.rows == infinity || options.rho.columns == infinity;
  if (!may_be_reduced || (!is_beyond && !is_coarse)) return std::nullopt;
  ReducedCosts<T> reduced;
  matrix_view<T> own;
  Index left_range = 0;
  mpi::agreed(context, [&] {
    reduced.memory = Array<T>(costs.rows() * costs.columns());
    own = {reduced.memory.data(), costs.rows(), costs.columns(), std::max<Index>(costs.columns(), 1),
           StorageOrder::row_major};
    for (Index i = 0; i < costs.rows(); ++i) {
      for (Index j = 0; j < costs.columns(); ++j) left_range += std::isfinite(own(i, j) = costs(i, j)) ? 1 : 0;
    }
  });
  reduced.offsets = reduce(context, own, options.rho);
  // A difference of finite costs may be no finite one.
  for_each_finite(own, [&](std::size_t, std::size_t, T cost) {
    --left_range;
    reduced.highest = std::max(reduced.highest, std::abs(static_cast<double>(cost)));
  });
  if (left_range > 0) reduced.highest = infinity;
  reduced.highest = mpi::all_reduce(context.comm(), reduced.highest, mpi::Operation::maximum());
  constexpr double worth_while = 16;
  const bool helps =
      is_beyond ? !beyond_range<A>(reduced.highest, options.epsilon) : reduced.highest <= highest / worth_while;
  if (!helps) return std::nullopt;
  reduced.costs = own;
  return reduced;
}

template <class T, class A>
void undo_reduction(mpi::Context& context, const ReducedCosts<T>& reduced, std::span<const CheckedMarginals> masses,
                    std::span<Transport<A>> found) {
  std::vector<double> taken_off;
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < found.size(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < masses[k].rows.size(); ++i) sum += reduced.offsets.rows[i] * masses[k].rows[i];
      taken_off.push_back(sum);
      found[k].offsets = reduced.offsets;
    }
  });
  mpi::all_reduce(context.comm(), std::span<double>(taken_off), mpi::Operation::sum());
  for (std::size_t k = 0; k < found.size(); ++k) {
    for (std::size_t j = 0; j < masses[k].columns.size(); ++j) {
      taken_off[k] += reduced.offsets.columns[j] * masses[k].columns[j];
    }
    for (double* const value : {&found[k].cost, &found[k].primal, &found[k].dual}) *value += taken_off[k];
  }
}

#define PLAIT_INSTANTIATE(T, A)                                                                                \
  template std::optional<ReducedCosts<T>> reduced_costs<T, A>(mpi::Context&, matrix_view<const T>, double,     \
                                                              const TransportOptions&);                        \
  template void undo_reduction<T, A>(mpi::Context&, const ReducedCosts<T>&, std::span<const CheckedMarginals>, \
                                     std::span<Transport<A>>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
