#include "plait/sinkhorn/transport/factor_stage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "plait/base/memory.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

namespace {

/// What the sums are to be where the factors are those beside these potentials. Null where that is no number.
template <class A>
std::optional<std::vector<double>> beside(const std::vector<A>& potentials, std::span<const double> marginals,
                                          double exponent) {
  const LogUpdate update(exponent, 1);
  std::vector<double> wanted;
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    const bool is_empty = marginals[i] == 0;
    wanted.push_back(is_empty ? 0 : update.wanted(marginals[i], static_cast<double>(potentials[i])));
    if (!is_empty && (!(wanted.back() > 0) || !std::isfinite(wanted.back()))) return std::nullopt;
  }
  return wanted;
}

}  // namespace

template <class A>
std::optional<Outcome> stage_by_factors(mpi::Context& context, const Stage<A>& stage, const StageProblem<A>& problem,
                                        const Limits& limits) {
  const CheckedMarginals& marginals = problem.marginals;
  std::vector<A>& f = problem.f;
  std::vector<A>& g = problem.g;
  const Index rows = stage.costs.rows();
  const Index columns = stage.costs.columns();
  const Index leading_dimension = std::max(Index{1}, columns);
  Array<A> kernel;
  std::vector<A> sums;
  std::vector<A> ones;
  std::vector<A> better;
  mpi::agreed(context, [&] {
    kernel = Array<A>(rows * leading_dimension);
    sums.resize(g.size());
    ones.resize(f.size(), A{1});
    better.resize(g.size());
  });
  const matrix_view<A> matrix(kernel.data(), rows, columns, leading_dimension, StorageOrder::row_major);
  stage.costs.fill(matrix, f, g);
  const auto kernels = simd::scaling_kernels<A, A>();
  kernels.column_sums({matrix.data(), rows, columns, leading_dimension}, ones.data(), sums.data(), {});
  collective::allreduce(context, std::span<A>(sums), simd::ReduceOperation::sum);
  for (std::size_t j = 0; j < sums.size(); ++j) {
    if (marginals.columns[j] > 0 && !(sums[j] > lowest_sum<A>)) return std::nullopt;
  }
  std::optional<std::vector<double>> of_rows;
  std::optional<std::vector<double>> of_columns;
  mpi::agreed(context, [&] {
    of_rows = beside(f, marginals.rows, stage.update.row_exponent);
    of_columns = beside(g, marginals.columns, stage.update.column_exponent);
  });
  const int is_in_range = of_rows && of_columns ? 1 : 0;
  if (mpi::all_reduce(context.comm(), is_in_range, mpi::Operation::minimum()) == 0) return std::nullopt;
  const Scaling<A> scaling =
      scale<A, A>(context, matrix, {*of_rows, *of_columns, marginals.names}, limits, {}, stage.update);
  // The limit that rounding sets is the same in any domain.
  const bool is_rounding =
      std::isfinite(scaling.outcome.error) && is_as_good_as_it_gets(scaling.outcome.errors, roundoff_of<A>());
  const auto moved = [](A potential, A factor) {
    return static_cast<A>(static_cast<double>(potential) + std::log(static_cast<double>(factor)));
  };
  for (std::size_t j = 0; j < g.size(); ++j) better[j] = moved(g[j], scaling.v[j]);
  if (scaling.outcome.status == Status::numerical_limit && !is_rounding) {
    bool is_usable = true;
    for (std::size_t j = 0; j < better.size(); ++j) {
      is_usable = is_usable && (marginals.columns[j] == 0 || std::isfinite(better[j]));
    }
    if (is_usable) g = better;
    return std::nullopt;
  }
  g = std::move(better);
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = moved(f[i], scaling.u[i]);
  return scaling.outcome;
}

template std::optional<Outcome> stage_by_factors(mpi::Context&, const Stage<double>&, const StageProblem<double>&,
                                                 const Limits&);
template std::optional<Outcome> stage_by_factors(mpi::Context&, const Stage<float>&, const StageProblem<float>&,
                                                 const Limits&);

}  // namespace plait::sinkhorn
