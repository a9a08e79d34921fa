#include "plait/sinkhorn/transport.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/column_sums.hpp"
#include "plait/sinkhorn/feasibility.hpp"
#include "plait/sinkhorn/log_sweep.hpp"
#include "plait/sinkhorn/matrix_check.hpp"
#include "plait/sinkhorn/scale.hpp"
#include "plait/sinkhorn/stagnation.hpp"
#include "plait/sinkhorn/stored_costs.hpp"
#include "plait/sinkhorn/transport_iterations.hpp"

namespace plait::sinkhorn {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Columns without mass have no potential that counts.
template <class A>
void expect_potentials(std::span<const A> start, std::span<const double> marginals) {
  if (start.empty()) return;
  if (start.size() != marginals.size()) {
    throw ArgumentError(
        fmt::format("the start has potentials for {} columns, expected {}", start.size(), marginals.size()));
  }
  for (std::size_t j = 0; j < start.size(); ++j) {
    if (marginals[j] == 0 || std::isfinite(start[j])) continue;
    throw ArgumentError(
        fmt::format("the start has the potential {} for column {}, expected a finite one", start[j], j));
  }
}

/// Potentials for one epsilon, in its units, from those of another run.
template <class A>
class Stage {
 public:
  /// \pre  the epsilon of the costs is set
  Stage(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& marginals, const Limits& limits)
      : context_(context), costs_(costs), marginals_(marginals), limits_(limits) {}

  /// By factors: of the matrix exp(f + g - C / epsilon), with the f that makes the largest entry of each row 1. Null
  /// where that does not work out: a column of it is 0, or numbers leave their range on the way, in which case the
  /// potentials of the columns are as good as that way was.
  [[nodiscard]] std::optional<Outcome> by_factors(std::vector<A>& f, std::vector<A>& g) {
    const Index rows = costs_.rows();
    const Index columns = costs_.columns();
    const Index leading_dimension = std::max(Index{1}, columns);
    Array<A> kernel;
    std::vector<A> sums;
    std::vector<A> ones;
    std::vector<A> better;
    mpi::agreed(context_, [&] {
      kernel = Array<A>(rows * leading_dimension);
      sums.resize(g.size());
      ones.resize(f.size(), A{1});
      better.resize(g.size());
    });
    const matrix_view<A> matrix(kernel.data(), rows, columns, leading_dimension, StorageOrder::row_major);
    costs_.fill(matrix, f, g);
    const auto kernels = simd::scaling_kernels<A, A>();
    kernels.column_sums({matrix.data(), rows, columns, leading_dimension}, ones.data(), sums.data(), {});
    collective::allreduce(context_, std::span<A>(sums), simd::ReduceOperation::sum);
    constexpr A lowest = std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();
    for (std::size_t j = 0; j < sums.size(); ++j) {
      if (marginals_.columns[j] > 0 && !(sums[j] > lowest)) return std::nullopt;
    }
    const Scaling<A> scaling = scale<A, A>(context_, matrix, {marginals_.rows, marginals_.columns}, limits_);
    const bool is_range = scaling.outcome.status == Status::numerical_limit && !is_rounding(scaling.outcome);
    const auto moved = [](A potential, A factor) {
      return static_cast<A>(static_cast<double>(potential) + std::log(static_cast<double>(factor)));
    };
    for (std::size_t j = 0; j < g.size(); ++j) better[j] = moved(g[j], scaling.v[j]);
    if (is_range) {
      const bool is_finite = std::ranges::all_of(better, [](A value) { return std::isfinite(value); });
      if (is_finite) g = better;
      return std::nullopt;
    }
    g = std::move(better);
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = moved(f[i], scaling.u[i]);
    return scaling.outcome;
  }

  /// By logarithms.
  [[nodiscard]] Outcome by_logarithms(std::vector<A>& f, std::vector<A>& g) {
    constexpr Index riders = 1;  // the number of rows that reach nothing
    SumOverRanks<A> sums_over_ranks(context_, costs_.columns() + riders);
    auto all = mpi::agreed(context_, [&] { return std::vector<A>(g.size() + riders); });
    const std::span<A> sums = std::span(all).first(g.size());
    const double rounding = roundoff_of<A>();
    double error = 0;
    if (const ScalingState* from = limits_.checkpoints.from) {
      mpi::agreed(context_, [&] { expect_fewer(*from, limits_.most_iterations); });
      outcome_.errors = from->errors;
      outcome_.iterations = static_cast<Index>(from->errors.size());
    }
    while (outcome_.iterations < limits_.most_iterations) {
      std::ranges::fill(all, A{0});
      all.back() = static_cast<A>(costs_.sweep(marginals_.rows, f, g, sums));
      sums_over_ranks(all);
      error = error_of(sums);
      outcome_.error = error;
      outcome_.errors.push_back(error);
      ++outcome_.iterations;
      if (limits_.listener) limits_.listener(outcome_.iterations, error);
      if (all.back() > 0) return unreached("rows", static_cast<Index>(all.back()), f);
      if (error <= limits_.tolerance) {
        return ended(Status::converged,
                     fmt::format("the error is {:.3g}, at most {:.3g} was wanted", error, limits_.tolerance));
      }
      if (is_as_good_as_it_gets(outcome_.errors, rounding)) {
        return ended(Status::numerical_limit,
                     fmt::format("the error stays at {:.3g}, which is what rounding leaves; {:.3g} was wanted", error,
                                 limits_.tolerance));
      }
      if (is_slow(outcome_.errors) && is_infeasible(f)) return outcome_;
      if (outcome_.iterations == limits_.most_iterations) break;
      const Index starved = move_columns(f, g, sums);
      if (starved > 0) return unreached("columns", starved, f);
      if (limits_.checkpoints.is_due(outcome_.iterations)) limits_.checkpoints.keep({{}, outcome_.errors});
    }
    if (outcome_.iterations > 0 && is_infeasible(f)) return outcome_;
    return ended(Status::iteration_limit, fmt::format("the error is {:.3g} after {} iterations, {:.3g} was wanted",
                                                      error, outcome_.iterations, limits_.tolerance));
  }

 private:
  /// Whether a run came to the limit that rounding sets, which is as good in any domain.
  [[nodiscard]] static bool is_rounding(const Outcome& outcome) {
    return std::isfinite(outcome.error) && is_as_good_as_it_gets(outcome.errors, roundoff_of<A>());
  }

  [[nodiscard]] double error_of(std::span<const A> sums) const {
    double distance = 0;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      distance += std::abs(static_cast<double>(sums[j]) - marginals_.columns[j]);
    }
    return marginals_.total > 0 ? distance / marginals_.total : distance;
  }

  /// Gives the columns their sums; returns how many reach no row. All ranks do the same.
  [[nodiscard]] Index move_columns(std::span<const A> f, std::vector<A>& g, std::span<const A> sums) {
    constexpr A lowest = std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();
    std::vector<std::size_t> lost;  // columns of which nothing is left in the sums
    for (std::size_t j = 0; j < g.size(); ++j) {
      if (marginals_.columns[j] == 0) {
        g[j] = -std::numeric_limits<A>::infinity();
      } else if (!(sums[j] >= lowest)) {
        lost.push_back(j);
      } else {
        g[j] =
            static_cast<A>(static_cast<double>(g[j]) + std::log(marginals_.columns[j] / static_cast<double>(sums[j])));
      }
    }
    if (lost.empty()) return 0;
    std::vector<double> maxima;
    std::vector<double> exact;
    mpi::agreed(context_, [&] {
      maxima.resize(lost.size(), -infinity);
      exact.resize(lost.size());
    });
    costs_.column_maxima(lost, f, maxima);
    collective::allreduce(context_, std::span<double>(maxima), simd::ReduceOperation::max);
    Index unreached = 0;
    for (double& maximum : maxima) {
      if (std::isfinite(maximum)) continue;
      ++unreached;
      maximum = 0;
    }
    costs_.column_sums(lost, f, maxima, exact);
    collective::allreduce(context_, std::span<double>(exact), simd::ReduceOperation::sum);
    for (std::size_t k = 0; k < lost.size() && unreached == 0; ++k) {
      g[lost[k]] = static_cast<A>(std::log(marginals_.columns[lost[k]]) - maxima[k] - std::log(exact[k]));
    }
    return unreached;
  }

  [[nodiscard]] Outcome ended(Status status, std::string reason) {
    outcome_.status = status;
    outcome_.reason = std::move(reason);
    return outcome_;
  }

  [[nodiscard]] bool is_infeasible(const std::vector<A>& f) {
    const auto heights = mpi::agreed(context_, [&] { return std::vector<double>(f.begin(), f.end()); });
    const Feasibility found = costs_.feasibility(context_, marginals_, heights);
    if (!found.is_infeasible) return false;
    outcome_.status = marginals_.are_uniform ? Status::no_support : Status::infeasible_marginals;
    outcome_.reason = describe(found.bottleneck);
    return true;
  }

  [[nodiscard]] Outcome unreached(const char* what, Index count, const std::vector<A>& f) {
    if (is_infeasible(f)) return outcome_;
    return ended(Status::infeasible_marginals,
                 fmt::format("{} {} that are to have a sum meet only what is forbidden or has none", count, what));
  }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  const CheckedMarginals& marginals_;
  Limits limits_;
  Outcome outcome_;
};

/// What belongs to the plan, in one more pass.
template <class A>
void evaluate(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& marginals, double epsilon,
              Transport<A>& result) {
  const auto term = [](double potential, double mass) { return mass == 0 ? 0.0 : potential * mass; };
  // Σ C P, Σ P, Σ (f + g) P and Σ f r over this rank's rows
  std::array<double, 4> sums{};
  costs.for_each_row(result.f, result.g, [&](const PlanRow<A>& row) {
    const auto of_row = static_cast<double>(result.f[static_cast<std::size_t>(row.row)]);
    double mass = 0;
    double potentials = 0;
    for (std::size_t j = 0; j < row.plan.size(); ++j) {
      const auto entry = static_cast<double>(row.plan[j]);
      if (entry == 0) continue;
      mass += entry;
      potentials += (of_row + static_cast<double>(result.g[j])) * entry;
    }
    sums[0] += row.cost;
    sums[1] += mass;
    sums[2] += potentials;
    sums[3] += term(of_row, marginals.rows[static_cast<std::size_t>(row.row)]);
  });
  mpi::all_reduce(context.comm(), sums, mpi::Operation::sum());
  double dual = sums[3];
  for (std::size_t j = 0; j < result.g.size(); ++j) {
    dual += term(static_cast<double>(result.g[j]), marginals.columns[j]);
  }
  result.cost = sums[0];
  result.mass = sums[1];
  result.primal = epsilon * (sums[2] - sums[1]);
  result.dual = epsilon * (dual - sums[1]);
}

/// Beyond this, exponentials of costs span too many orders of magnitude to be factors of anything.
template <class A>
constexpr double widest_factors = std::is_same_v<A, double> ? 500 : 50;

template <class A>
std::vector<A> as_numbers(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// Where the run is that `from` tells of.
template <class A>
void expect_state(const TransportState& from, std::size_t rows, std::size_t columns, const TransportOptions& options) {
  if (from.f.size() != rows || from.g.size() != columns ||
      (from.domain == Domain::factors && from.v.size() != columns)) {
    throw ArgumentError(fmt::format("the state has {} x {} potentials, expected {} x {}", from.f.size(), from.g.size(),
                                    rows, columns));
  }
  if (!(from.epsilon >= options.epsilon)) {
    throw ArgumentError(
        fmt::format("the state has come to epsilon {}, expected {} at least", from.epsilon, options.epsilon));
  }
}

}  // namespace

void expect_suitable(const TransportOptions& options) {
  expect_valid(options.limits);
  if (!(options.epsilon > 0) || !std::isfinite(options.epsilon)) {
    throw ArgumentError(fmt::format("epsilon is {}, expected a finite number > 0", options.epsilon));
  }
  if (options.first_epsilon != 0 && !(options.first_epsilon >= options.epsilon && options.first_epsilon < infinity)) {
    throw ArgumentError(fmt::format("the first epsilon is {}, expected a finite number >= {}, the last one",
                                    options.first_epsilon, options.epsilon));
  }
}

template <class A>
Transport<A> transport_of(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& marginals,
                          double highest, const TransportOptions& options, std::span<const A> start) {
  mpi::agreed(context, [&] { expect_potentials(start, std::span<const double>(marginals.columns)); });
  // Within factors of 4 of the costs themselves little is gained.
  constexpr double wide = 40;
  constexpr double step = 0.25;
  double epsilon = options.first_epsilon;
  if (epsilon == 0) epsilon = highest > wide * options.epsilon ? highest / 10 : options.epsilon;
  epsilon = std::max(epsilon, options.epsilon);

  Transport<A> result;
  mpi::agreed(context, [&] {
    result.f.assign(static_cast<std::size_t>(costs.rows()), A{0});
    result.g.assign(static_cast<std::size_t>(costs.columns()), A{0});
    if (options.from != nullptr) expect_state<A>(*options.from, result.f.size(), result.g.size(), options);
  });
  for (std::size_t j = 0; j < start.size(); ++j) {
    result.g[j] = marginals.columns[j] > 0 ? start[j] : -std::numeric_limits<A>::infinity();
  }
  const auto in_units = [&](std::vector<A>& potentials, double factor) {
    for (A& potential : potentials) potential = static_cast<A>(static_cast<double>(potential) * factor);
  };
  const TransportState* from = options.from;
  if (from != nullptr) {
    epsilon = from->epsilon;
    result.stages = from->stages;
    result.f = as_numbers<A>(from->f);
    result.g = as_numbers<A>(from->g);
  }
  while (true) {
    const bool is_last = epsilon <= options.epsilon;
    Limits limits = options.limits;
    if (!is_last) {
      constexpr double rough = 1e-2;
      constexpr Index few = 100;
      limits.tolerance = std::max(rough, limits.tolerance);
      limits.most_iterations = std::min(few, limits.most_iterations);
    }
    if (from == nullptr) {
      in_units(result.f, 1 / epsilon);
      in_units(result.g, 1 / epsilon);
    }
    Domain domain = from != nullptr ? from->domain : options.domain;
    if (domain == Domain::automatic) {
      domain = highest / epsilon <= widest_factors<A> ? Domain::factors : Domain::logarithmic;
    }
    mpi::agreed(context, [&] { costs.set_epsilon(epsilon); });
    const auto keep = [&](const ScalingState& scaling) {
      options.keep({result.stages,
                    epsilon,
                    domain,
                    {result.f.begin(), result.f.end()},
                    {result.g.begin(), result.g.end()},
                    scaling.v,
                    scaling.errors});
    };
    std::optional<ScalingState> reached;
    if (from != nullptr) reached = ScalingState{from->v, from->errors};
    limits.checkpoints = {options.keep_every, {}, reached ? &*reached : nullptr};
    if (options.keep) limits.checkpoints.keep = keep;
    from = nullptr;
    std::optional<Outcome> outcome;
    bool is_hopeless = false;
    if (domain == Domain::factors) {
      outcome = Stage<A>(context, costs, marginals, limits).by_factors(result.f, result.g);
      limits.checkpoints.from = nullptr;
      if (!outcome && options.domain == Domain::factors) {
        outcome = Outcome{Status::numerical_limit,
                          "exponentials of the costs left the range of numbers; the logarithmic domain has none",
                          0,
                          std::numeric_limits<double>::infinity(),
                          {}};
        std::ranges::fill(result.f, std::numeric_limits<A>::quiet_NaN());
        is_hopeless = true;
      }
    }
    if (!outcome) {
      domain = Domain::logarithmic;
      outcome = Stage<A>(context, costs, marginals, limits).by_logarithms(result.f, result.g);
    }
    result.stages.push_back({epsilon, outcome->iterations, domain});
    result.outcome = std::move(*outcome);
    is_hopeless = is_hopeless || result.outcome.status == Status::no_support ||
                  result.outcome.status == Status::infeasible_marginals;
    if (is_last || is_hopeless) break;
    in_units(result.f, epsilon);
    in_units(result.g, epsilon);
    epsilon = std::max(options.epsilon, epsilon * step);
  }
  evaluate(context, costs, marginals, epsilon, result);
  in_units(result.f, epsilon);
  in_units(result.g, epsilon);
  return result;
}

template <class T, class A>
Transport<A> transport(mpi::Context& context, matrix_view<const T> costs, const Marginals& marginals,
                       const TransportOptions& options, std::span<const A> start) {
  mpi::agreed(context, [&] {
    expect_suitable(options);
    if (!costs.empty() && costs.order() != StorageOrder::row_major) {
      throw ArgumentError(
          "the costs are column-major, expected row-major: their transpose is, with marginals exchanged");
    }
  });
  const CheckedMarginals checked = checked_marginals(context, costs.rows(), costs.columns(), marginals);
  const double highest = check_costs<T>(context, costs, checked);
  StoredCosts<T, A> stored(costs);
  return transport_of<A>(context, stored, checked, highest, options, start);
}

template <class T, class A>
void transport_plan_in_place(matrix_view<T> costs, double epsilon, std::span<const A> f, std::span<const A> g) {
  const auto in_units = [epsilon](std::span<const A> potentials) {
    std::vector<A> units;
    for (const A potential : potentials) units.push_back(static_cast<A>(static_cast<double>(potential) / epsilon));
    return units;
  };
  const std::vector<A> of_rows = in_units(f);
  const std::vector<A> of_columns = in_units(g);
  LogSweep<T, A> sweep(costs, epsilon);
  sweep.for_each_row(of_rows, of_columns, [&](Index i, std::span<const A> plan) {
    T* row = costs.data() + i * costs.leading_dimension();
    std::ranges::transform(plan, row, [](A entry) { return static_cast<T>(entry); });
  });
}

#define PLAIT_INSTANTIATE(T, A)                                                                                   \
  template Transport<A> transport(mpi::Context&, matrix_view<const T>, const Marginals&, const TransportOptions&, \
                                  std::span<const A>);                                                            \
  template void transport_plan_in_place(matrix_view<T>, double, std::span<const A>, std::span<const A>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(A)                                                                                   \
  template Transport<A> transport_of(mpi::Context&, CostOperand<A>&, const CheckedMarginals&, double,          \
                                     const TransportOptions&, std::span<const A>)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);

}  // namespace plait::sinkhorn
