#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "plait/base/memory.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

/// What the sums are to be where the factors are those beside these potentials. Null where that is no number.
template <class A>
std::optional<std::vector<double>> beside(const std::vector<A>& potentials, std::span<const double> marginals,
                                          double exponent) {
  const LogUpdate update(exponent);
  std::vector<double> wanted;
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    const bool is_empty = marginals[i] == 0;
    wanted.push_back(is_empty ? 0 : update.wanted(marginals[i], static_cast<double>(potentials[i])));
    if (!is_empty && (!(wanted.back() > 0) || !std::isfinite(wanted.back()))) return std::nullopt;
  }
  return wanted;
}

template <class A>
A moved_by(A potential, A factor) {
  return static_cast<A>(static_cast<double>(potential) + std::log(static_cast<double>(factor)));
}

/// The stored matrix exp(f + g - C / epsilon), with the f that makes the largest entry of each row 1.
template <class A>
struct StoredFactors {
  Array<A> elements;
  matrix_view<A> matrix;
  std::vector<A> column_sums;  // of all ranks
};

/// \param f  becomes that one
template <class A>
StoredFactors<A> stored_factors(mpi::Context& context, const Stage<A>& stage, std::vector<A>& f,
                                const std::vector<A>& g) {
  const Index rows = stage.costs.rows();
  const Index columns = stage.costs.columns();
  const Index leading_dimension = std::max(Index{1}, columns);
  StoredFactors<A> stored;
  std::vector<A> ones;
  mpi::agreed(context, [&] {
    stored.elements = Array<A>(rows * leading_dimension);
    stored.column_sums.resize(g.size());
    ones.resize(f.size(), A{1});
  });
  stored.matrix = {stored.elements.data(), rows, columns, leading_dimension, StorageOrder::row_major};
  stage.costs.fill(stored.matrix, f, g);
  simd::scaling_kernels<A, A>().column_sums({stored.matrix.data(), rows, columns, leading_dimension}, ones.data(),
                                            stored.column_sums.data(), {});
  collective::allreduce(context, std::span<A>(stored.column_sums), simd::ReduceOperation::sum);
  return stored;
}

template <class A>
bool reaches_all(const std::vector<A>& column_sums, const CheckedMarginals& marginals) {
  for (std::size_t j = 0; j < column_sums.size(); ++j) {
    if (marginals.columns[j] > 0 && !(column_sums[j] > lowest_sum<A>)) return false;
  }
  return true;
}

/// The potentials of columns that factors were found beside: those are as good as the way was, even where it ended.
///
/// \return  whether it led to the potentials that were wanted
template <class A>
bool take_columns(const Scaling<A>& scaling, std::vector<A> better, const CheckedMarginals& marginals,
                  std::vector<A>& g) {
  for (std::size_t j = 0; j < better.size(); ++j) better[j] = moved_by(better[j], scaling.v[j]);
  if (!scaling.outcome.is_out_of_range) {
    g = std::move(better);
    return true;
  }
  for (std::size_t j = 0; j < better.size(); ++j) {
    if (marginals.columns[j] > 0 && !std::isfinite(better[j])) return false;
  }
  g = std::move(better);
  return false;
}

/// The potentials of columns as factors beside a matrix without them. Null where these are no numbers.
template <class A>
std::optional<std::vector<A>> as_factors(const std::vector<A>& g, const CheckedMarginals& marginals) {
  std::vector<A> factors;
  for (std::size_t j = 0; j < g.size(); ++j) {
    factors.push_back(marginals.columns[j] == 0 ? A{0} : static_cast<A>(std::exp(static_cast<double>(g[j]))));
    if (marginals.columns[j] > 0 && (!(factors.back() > 0) || !std::isfinite(factors.back()))) return std::nullopt;
  }
  return factors;
}

/// One problem has a matrix of its own, exp(f + g - C / epsilon).
template <class A>
std::optional<Outcome> by_own_factors(mpi::Context& context, const Stage<A>& stage, const StageProblem<A>& problem,
                                      const Limits& limits) {
  const CheckedMarginals& marginals = problem.marginals;
  std::vector<A>& f = problem.f;
  std::vector<A>& g = problem.g;
  const StoredFactors<A> stored = stored_factors(context, stage, f, g);
  if (!reaches_all(stored.column_sums, marginals)) return std::nullopt;
  std::optional<std::vector<double>> of_rows;
  std::optional<std::vector<double>> of_columns;
  mpi::agreed(context, [&] {
    of_rows = beside(f, marginals.rows, stage.update.row_exponent);
    of_columns = beside(g, marginals.columns, stage.update.column_exponent);
  });
  const int is_in_range = of_rows && of_columns ? 1 : 0;
  if (mpi::all_reduce(context.comm(), is_in_range, mpi::Operation::minimum()) == 0) return std::nullopt;
  const Scaling<A> scaling =
      scale<A, A>(context, stored.matrix, {*of_rows, *of_columns, marginals.names}, limits, {}, stage.update);
  auto better = mpi::agreed(context, [&] { return g; });
  if (!take_columns(scaling, std::move(better), marginals, g)) return std::nullopt;
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = moved_by(f[i], scaling.u[i]);
  return scaling.outcome;
}

}  // namespace

template <class A>
std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context& context, const Stage<A>& stage,
                                                     std::span<const StageProblem<A>> problems, const Limits& limits) {
  if (problems.size() == 1) return {by_own_factors<A>(context, stage, problems.front(), limits)};
  std::vector<std::optional<Outcome>> outcomes(problems.size());
  std::vector<A> f;
  std::vector<A> zeros;
  mpi::agreed(context, [&] {
    f.resize(static_cast<std::size_t>(stage.costs.rows()));
    zeros.resize(static_cast<std::size_t>(stage.costs.columns()));
  });
  const StoredFactors<A> stored = stored_factors(context, stage, f, zeros);
  std::vector<std::optional<std::vector<double>>> of_rows(problems.size());
  std::vector<std::optional<std::vector<A>>> starts(problems.size());
  std::vector<int> is_in_range(problems.size(), 1);
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      of_rows[k] = beside(f, problems[k].marginals.rows, stage.update.row_exponent);
      starts[k] = as_factors(problems[k].g, problems[k].marginals);
      if (!of_rows[k] || !starts[k] || !reaches_all(stored.column_sums, problems[k].marginals)) is_in_range[k] = 0;
    }
  });
  mpi::all_reduce(context.comm(), std::span<int>(is_in_range), mpi::Operation::minimum());
  std::vector<std::size_t> scaled;
  std::vector<Marginals> marginals;
  std::vector<std::vector<A>> begin;
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      if (is_in_range[k] == 0) continue;
      scaled.push_back(k);
      marginals.push_back({*of_rows[k], problems[k].marginals.columns, problems[k].marginals.names});
      begin.push_back(std::move(*starts[k]));
    }
  });
  if (scaled.empty()) return outcomes;
  auto scalings = scale_batch<A, A>(context, stored.matrix, marginals, limits, stage.update, begin);
  for (std::size_t n = 0; n < scaled.size(); ++n) {
    const StageProblem<A>& problem = problems[scaled[n]];
    Scaling<A>& scaling = scalings[n];
    if (!take_columns(scaling, zeros, problem.marginals, problem.g)) continue;
    for (std::size_t i = 0; i < f.size(); ++i) problem.f[i] = moved_by(f[i], scaling.u[i]);
    outcomes[scaled[n]] = std::move(scaling.outcome);
  }
  return outcomes;
}

template std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context&, const Stage<double>&,
                                                              std::span<const StageProblem<double>>, const Limits&);
template std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context&, const Stage<float>&,
                                                              std::span<const StageProblem<float>>, const Limits&);

}  // namespace plait::sinkhorn
