#include "plait/sinkhorn/transport/transport_stage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/memory.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/scaling_kernels.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

namespace {

/// Smaller sums may have lost digits.
template <class A>
constexpr A lowest_sum = std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();

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
std::optional<Outcome> stage_by_factors(mpi::Context& context, const StageTask<A>& task, const Limits& limits,
                                        std::vector<A>& f, std::vector<A>& g) {
  const Index rows = task.costs.rows();
  const Index columns = task.costs.columns();
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
  task.costs.fill(matrix, f, g);
  const auto kernels = simd::scaling_kernels<A, A>();
  kernels.column_sums({matrix.data(), rows, columns, leading_dimension}, ones.data(), sums.data(), {});
  collective::allreduce(context, std::span<A>(sums), simd::ReduceOperation::sum);
  for (std::size_t j = 0; j < sums.size(); ++j) {
    if (task.marginals.columns[j] > 0 && !(sums[j] > lowest_sum<A>)) return std::nullopt;
  }
  std::optional<std::vector<double>> of_rows;
  std::optional<std::vector<double>> of_columns;
  mpi::agreed(context, [&] {
    of_rows = beside(f, task.marginals.rows, task.update.row_exponent);
    of_columns = beside(g, task.marginals.columns, task.update.column_exponent);
  });
  const int is_in_range = of_rows && of_columns ? 1 : 0;
  if (mpi::all_reduce(context.comm(), is_in_range, mpi::Operation::minimum()) == 0) return std::nullopt;
  const Scaling<A> scaling =
      scale<A, A>(context, matrix, {*of_rows, *of_columns, task.marginals.names}, limits, {}, task.update);
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
      is_usable = is_usable && (task.marginals.columns[j] == 0 || std::isfinite(better[j]));
    }
    if (is_usable) g = better;
    return std::nullopt;
  }
  g = std::move(better);
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = moved(f[i], scaling.u[i]);
  return scaling.outcome;
}

namespace {

template <class A>
class Logarithms {
 public:
  Logarithms(mpi::Context& context, const StageTask<A>& task, const Limits& limits)
      : context_(context),
        task_(task),
        of_rows_(task.update.row_exponent, task.update.over_relaxation),
        of_columns_(task.update.column_exponent, task.update.over_relaxation),
        limits_(limits),
        course_(limits, roundoff_of<A>(), task.span) {}

  [[nodiscard]] Outcome to_the_end(std::vector<A>& f, std::vector<A>& g) {
    constexpr Index riders = 2;  // what rows are off by, and how many reach nothing
    if (const ScalingState* from = limits_.checkpoints.from) {
      mpi::agreed(context_, [&] { expect_fewer(*from, limits_.most_iterations); });
    }
    SumOverRanks<A> sums_over_ranks(context_, task_.costs.columns() + riders);
    auto all = mpi::agreed(context_, [&] { return std::vector<A>(g.size() + riders); });
    const std::span<A> sums = std::span(all).first(g.size());
    while (!course_.is_at_limit()) {
      std::ranges::fill(all, A{0});
      const RowsSwept swept = task_.costs.sweep(task_.marginals.rows, f, g, sums, of_rows_);
      all[g.size()] = static_cast<A>(swept.distance);
      all.back() = static_cast<A>(swept.unreached);
      sums_over_ranks(all);
      const double error = error_of(sums, g, static_cast<double>(all[g.size()]));
      course_.took(error);
      if (all.back() > 0 || !std::isfinite(error)) return out_of_range(f);
      if (course_.is_over()) return course_.outcome();
      if (course_.is_slow() && is_infeasible(f)) return course_.outcome();
      if (course_.is_at_limit()) break;
      if (!move_columns(f, g, sums)) return out_of_range(f);
      course_.keep([] { return ScalingState(); });
    }
    if (course_.outcome().iterations > 0 && is_infeasible(f)) return course_.outcome();
    return course_.at_limit();
  }

 private:
  [[nodiscard]] double error_of(std::span<const A> sums, std::span<const A> g, double of_rows) const {
    double distance = of_rows;
    double whole = 0;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const double wanted = of_columns_.wanted(task_.marginals.columns[j], static_cast<double>(g[j]));
      distance += std::abs(static_cast<double>(sums[j]) - wanted);
      whole += wanted;
    }
    return whole > 0 ? distance / whole : distance;
  }

  /// Gives the columns their sums; false where one reaches no row, or has no finite sum. All ranks do the same.
  [[nodiscard]] bool move_columns(std::span<const A> f, std::vector<A>& g, std::span<const A> sums) {
    const std::vector<double>& marginals = task_.marginals.columns;
    const auto move = [&](std::size_t j, double log_ratio) {
      const auto old = static_cast<double>(g[j]);
      g[j] = static_cast<A>(old + of_columns_.change(old, log_ratio));
    };
    std::vector<std::size_t> lost;  // columns of which nothing is left in the sums
    for (std::size_t j = 0; j < g.size(); ++j) {
      if (marginals[j] == 0) {
        g[j] = -std::numeric_limits<A>::infinity();
      } else if (!(sums[j] >= lowest_sum<A>)) {
        lost.push_back(j);
      } else {
        move(j, std::log(marginals[j] / static_cast<double>(sums[j])));
      }
    }
    if (lost.empty()) return true;
    std::vector<double> maxima;
    std::vector<double> exact;
    mpi::agreed(context_, [&] {
      maxima.resize(lost.size(), -std::numeric_limits<double>::infinity());
      exact.resize(lost.size());
    });
    task_.costs.column_maxima(lost, f, maxima);
    collective::allreduce(context_, std::span<double>(maxima), simd::ReduceOperation::max);
    if (!std::ranges::all_of(maxima, [](double maximum) { return std::isfinite(maximum); })) return false;
    task_.costs.column_sums(lost, f, maxima, exact);
    collective::allreduce(context_, std::span<double>(exact), simd::ReduceOperation::sum);
    for (std::size_t k = 0; k < lost.size(); ++k) {
      const double log_sum = maxima[k] + std::log(exact[k]) + static_cast<double>(g[lost[k]]);
      move(lost[k], std::log(marginals[lost[k]]) - log_sum);
      if (!std::isfinite(g[lost[k]])) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_infeasible(const std::vector<A>& f) {
    if (!task_.update.is_balanced()) return false;
    const auto heights = mpi::agreed(context_, [&] { return std::vector<double>(f.begin(), f.end()); });
    return course_.is_proof(task_.costs.feasibility(context_, task_.marginals, heights), task_.marginals);
  }

  /// Rows or columns that reach some that have a sum got none: there is proof that they can't, or it is rounding.
  [[nodiscard]] Outcome out_of_range(const std::vector<A>& f) {
    if (is_infeasible(f)) return course_.outcome();
    Outcome outcome = course_.ended(
        Status::numerical_limit,
        fmt::format(
            "sums left the range of numbers in iteration {} of a stage where costs are up to {:.3g} times epsilon, "
            "which {} round to {:.3g} epsilons; a larger epsilon is needed",
            course_.outcome().iterations, task_.span, std::is_same_v<A, double> ? "doubles" : "floats",
            task_.span * roundoff_of<A>()));
    outcome.error = std::numeric_limits<double>::infinity();
    return outcome;
  }

  mpi::Context& context_;
  const StageTask<A>& task_;
  LogUpdate of_rows_;
  LogUpdate of_columns_;
  const Limits& limits_;
  Course course_;
};

}  // namespace

template <class A>
Outcome stage_by_logarithms(mpi::Context& context, const StageTask<A>& task, const Limits& limits, std::vector<A>& f,
                            std::vector<A>& g) {
  return Logarithms<A>(context, task, limits).to_the_end(f, g);
}

#define PLAIT_INSTANTIATE(A)                                                                                           \
  template std::optional<Outcome> stage_by_factors(mpi::Context&, const StageTask<A>&, const Limits&, std::vector<A>&, \
                                                   std::vector<A>&);                                                   \
  template Outcome stage_by_logarithms(mpi::Context&, const StageTask<A>&, const Limits&, std::vector<A>&,             \
                                       std::vector<A>&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
