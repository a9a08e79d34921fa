#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/scaling/batch_method.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

/// What the sums are to be where the factors are those beside these potentials. Whether these are numbers.
template <class A>
bool find_beside(const std::vector<A>& potentials, std::span<const double> marginals, double exponent,
                 std::vector<double>& wanted) {
  const LogUpdate update(exponent);
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    const bool is_empty = marginals[i] == 0;
    wanted.push_back(is_empty ? 0 : update.wanted(marginals[i], static_cast<double>(potentials[i])));
    if (!is_empty && (!(wanted.back() > 0) || !std::isfinite(wanted.back()))) return false;
  }
  return true;
}

template <class A>
A moved_by(A potential, A factor) {
  return static_cast<A>(static_cast<double>(potential) + std::log(static_cast<double>(factor)));
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

/// The potentials of columns as factors beside a matrix without them. Whether these are numbers.
template <class A>
bool find_factors(const std::vector<A>& g, const CheckedMarginals& marginals, std::vector<A>& factors) {
  for (std::size_t j = 0; j < g.size(); ++j) {
    factors.push_back(marginals.columns[j] == 0 ? A{0} : static_cast<A>(std::exp(static_cast<double>(g[j]))));
    if (marginals.columns[j] > 0 && (!(factors.back() > 0) || !std::isfinite(factors.back()))) return false;
  }
  return true;
}

}  // namespace

template <class A>
std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context& context, const Stage<A>& stage,
                                                     const Limits& limits) {
  const auto& problems = stage.problems;
  const bool is_one = problems.size() == 1;
  std::vector<std::optional<Outcome>> outcomes(problems.size());
  std::vector<A> f;
  std::vector<A> g;
  std::vector<A> ones;
  std::vector<A> column_sums;
  const auto kernel = mpi::agreed(context, [&] {
    f.resize(static_cast<std::size_t>(stage.costs.rows()));
    g.resize(static_cast<std::size_t>(stage.costs.columns()));
    ones.resize(f.size(), A{1});
    column_sums.resize(g.size());
    if (is_one) g = problems[0]->result.g;
    return StoredKernel<A>(stage.costs);
  });
  stage.costs.fill(kernel.matrix, f, g);
  mpi::agreed(context, [&, kernels = simd::scaling_kernels<A, A>()] {
    const auto add = [&](const Slab<A>& slab) {
      kernels.column_sums(as_const(block_of(kernel.matrix, slab.first, slab.count)), ones.data() + slab.first,
                          slab.memory.data(), {});
    };
    add_up<A>(kernel.matrix.rows(), g.size(), 1, context.topology().threads(), add,
              [&](std::size_t) { return std::span(column_sums); });
  });
  collective::allreduce(context, std::span<A>(column_sums), simd::ReduceOperation::sum);
  if (is_one) std::ranges::copy(f, problems[0]->result.f.begin());
  // What sums are to be beside the matrix, and factors of columns to begin with.
  std::vector<std::vector<double>> rows(problems.size());
  std::vector<std::vector<double>> columns(problems.size());
  std::vector<std::vector<A>> starts(problems.size());
  std::vector<int> is_in_range(problems.size());
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const CheckedMarginals& masses = problems[k]->reached;
      bool fits = reaches_all(column_sums, masses) && find_beside(f, masses.rows, stage.update.row_exponent, rows[k]);
      if (is_one) {
        fits = fits && find_beside(g, masses.columns, stage.update.column_exponent, columns[k]);
      } else {
        columns[k] = masses.columns;
        fits = fits && find_factors(problems[k]->result.g, masses, starts[k]);
      }
      is_in_range[k] = fits ? 1 : 0;
    }
  });
  mpi::all_reduce(context.comm(), std::span<int>(is_in_range), mpi::Operation::minimum());
  std::vector<std::size_t> scaled;
  std::vector<Marginals> marginals;
  std::vector<std::vector<A>> starts_of_scaled;
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      if (is_in_range[k] == 0) continue;
      scaled.push_back(k);
      marginals.push_back({rows[k], columns[k]});
      starts_of_scaled.push_back(std::move(starts[k]));
    }
  });
  if (scaled.empty()) return outcomes;
  std::vector<Scaling<A>> scalings;
  if (is_one) {
    scalings.push_back(scale<A, A>(context, kernel.matrix, marginals[0], limits, {}, stage.update));
  } else {
    scalings = scale_batch<A, A>(context, kernel.matrix, marginals, limits, stage.update, starts_of_scaled);
  }
  for (std::size_t n = 0; n < scaled.size(); ++n) {
    TransportProblem<A>& problem = *problems[scaled[n]];
    if (!take_columns(scalings[n], g, problem.reached, problem.result.g)) continue;
    for (std::size_t i = 0; i < f.size(); ++i) problem.result.f[i] = moved_by(f[i], scalings[n].u[i]);
    outcomes[scaled[n]] = std::move(scalings[n].outcome);
  }
  return outcomes;
}

namespace {

template <class A>
void move_potential(A& g, const LogUpdate& update, double log_ratio) {
  const auto old = static_cast<double>(g);
  g = static_cast<A>(old + update.change(old, log_ratio));
}

}  // namespace

template <class A>
std::vector<std::optional<std::size_t>> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                     const LogUpdate& update, std::span<const LogVectors<A>> problems) {
  std::vector<std::optional<std::size_t>> out_of_range(problems.size());
  std::vector<std::size_t> lost;       // columns of which nothing is left in the sums: those of all problems,
  std::vector<std::size_t> begins{0};  // one behind the other
  for (const LogVectors<A>& problem : problems) {
    for (std::size_t j = 0; j < problem.g.size(); ++j) {
      if (problem.column_marginals[j] == 0) {
        problem.g[j] = -std::numeric_limits<A>::infinity();
      } else if (!(problem.sums[j] >= lowest_sum<A>)) {
        lost.push_back(j);
      } else {
        move_potential(problem.g[j], update,
                       std::log(problem.column_marginals[j] / static_cast<double>(problem.sums[j])));
      }
    }
    begins.push_back(lost.size());
  }
  if (lost.empty()) return out_of_range;
  const auto of = [&begins](std::size_t k, auto& values) {
    return std::span(values).subspan(begins[k], begins[k + 1] - begins[k]);
  };
  std::vector<double> maxima;
  std::vector<double> exact;
  mpi::agreed(context, [&] {
    maxima.resize(lost.size(), -std::numeric_limits<double>::infinity());
    exact.resize(lost.size());
  });
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const auto of_problem = of(k, maxima);
    if (of_problem.empty()) continue;
    costs.for_each_exponent(of(k, lost), problems[k].f,
                            [&](std::size_t n, double exponent) { of_problem[n] = std::max(of_problem[n], exponent); });
  }
  collective::allreduce(context, std::span<double>(maxima), simd::ReduceOperation::max);
  bool is_any_left = false;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    for (std::size_t n = begins[k]; n < begins[k + 1] && !out_of_range[k]; ++n) {
      if (!std::isfinite(maxima[n])) out_of_range[k] = lost[n];
    }
    if (out_of_range[k] || begins[k] == begins[k + 1]) continue;
    is_any_left = true;
    const auto sums = of(k, exact);
    costs.for_each_exponent(of(k, lost), problems[k].f, [&](std::size_t n, double exponent) {
      sums[n] += std::exp(exponent - maxima[begins[k] + n]);
    });
  }
  if (!is_any_left) return out_of_range;
  collective::allreduce(context, std::span<double>(exact), simd::ReduceOperation::sum);
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const LogVectors<A>& problem = problems[k];
    for (std::size_t n = begins[k]; n < begins[k + 1] && !out_of_range[k]; ++n) {
      const std::size_t j = lost[n];
      const double log_sum = maxima[n] + std::log(exact[n]) + static_cast<double>(problem.g[j]);
      move_potential(problem.g[j], update, std::log(problem.column_marginals[j]) - log_sum);
      if (!std::isfinite(problem.g[j])) out_of_range[k] = j;
    }
  }
  return out_of_range;
}

namespace {

/// Several problems whose costs are read, or made, once an iteration for all.
template <class A>
class Logarithms final : public BatchMethod<A, Logarithms<A>> {
 public:
  static constexpr bool has_total = false;

  Logarithms(mpi::Context& context, const Stage<A>& stage)
      : BatchMethod<A, Logarithms>(context, context, marginals_of(stage), stage.costs.columns(), stage.update),
        stage_(stage) {
    vectors_.reserve(stage.problems.size());
  }

  void sweep(std::span<const std::size_t> problems, std::span<RowsSwept> swept) {
    stage_.costs.sweep(vectors_of(problems), this->of_rows(), swept);
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> problems) override {
    const auto lost = move_columns<A>(this->context(), stage_.costs, this->of_columns(), vectors_of(problems));
    std::vector<std::size_t> out_of_range;
    for (std::size_t n = 0; n < problems.size(); ++n) {
      if (lost[n] || !this->translate(problems[n])) out_of_range.push_back(problems[n]);
    }
    return out_of_range;
  }

  [[nodiscard]] double wanted(std::size_t k, std::size_t j) const {
    return this->of_columns().wanted(this->problem(k).columns[j], static_cast<double>(result(k).g[j]));
  }
  [[nodiscard]] double sum(std::size_t /*k*/, std::size_t /*j*/, A of_rows) const {
    return static_cast<double>(of_rows);
  }
  [[nodiscard]] bool shift(std::size_t k, double by) {
    for (A& potential : result(k).f) potential = static_cast<A>(static_cast<double>(potential) + by);
    for (A& potential : result(k).g) potential = static_cast<A>(static_cast<double>(potential) - by);
    return true;
  }
  [[nodiscard]] const std::vector<A>& heights(std::size_t k) const { return result(k).f; }
  [[nodiscard]] std::vector<Feasibility> prove(std::span<const RowHeights> asked) {
    auto found = stage_.costs.feasibility(this->context(), asked);
    for (Feasibility& one : found) one.is_tight = false;  // of costs that are no reason
    return found;
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t k) override {
    return Iterate{std::span(result(k).g), true, this->problem(k).columns};
  }
  /// Rows or columns that reach some that have a sum got none, and there is no proof that they can't: it is rounding.
  [[nodiscard]] Method::Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    return {
        iterate::End::numbers,
        fmt::format(
            "sums left the range of numbers in iteration {} of a stage where costs are up to {:.3g} times epsilon, "
            "which {} round to {:.3g} epsilons; a larger epsilon is needed",
            iteration, stage_.span, std::is_same_v<A, double> ? "doubles" : "floats", stage_.span * roundoff_of<A>())};
  }

  void save(iterate::Checkpoint& checkpoint) const override { stage_.problems[0]->save(checkpoint); }
  void resume(const iterate::Checkpoint& checkpoint) override { stage_.problems[0]->resume(checkpoint); }

 private:
  [[nodiscard]] static std::vector<const CheckedMarginals*> marginals_of(const Stage<A>& stage) {
    std::vector<const CheckedMarginals*> marginals;
    for (const TransportProblem<A>* problem : stage.problems) marginals.push_back(&problem->reached);
    return marginals;
  }
  [[nodiscard]] Transport<A>& result(std::size_t k) const { return stage_.problems[k]->result; }
  [[nodiscard]] std::span<const LogVectors<A>> vectors_of(std::span<const std::size_t> problems) {
    vectors_.clear();
    for (const std::size_t k : problems) {
      const CheckedMarginals& masses = this->problem(k);
      vectors_.push_back({masses.rows, result(k).f, result(k).g, this->sums_of(k), masses.columns});
    }
    return vectors_;
  }

  const Stage<A>& stage_;
  std::vector<LogVectors<A>> vectors_;
};

}  // namespace

iterate::Rounding rounding_of_logarithms(double roundoff, double span, iterate::Errors errors) {
  return {roundoff, span, errors, fmt::format("costs that are up to {:.3g} times epsilon", span)};
}

template <class A>
std::vector<std::optional<Outcome>> stage_by_logarithms(mpi::Context& context, const Stage<A>& stage,
                                                        const Limits& limits) {
  Logarithms<A> method(context, stage);
  const auto errors = stage.update.is_balanced() ? iterate::Errors::fall : iterate::Errors::fluctuate;
  auto outcomes = iterated(context, method, limits, rounding_of_logarithms(roundoff_of<A>(), stage.span, errors));
  for (Outcome& outcome : outcomes) {
    if (outcome.is_out_of_range) outcome.error = infinity;
  }
  return mpi::agreed(context, [&] { return std::vector<std::optional<Outcome>>(outcomes.begin(), outcomes.end()); });
}

#define PLAIT_INSTANTIATE(A)                                                                                      \
  template std::vector<std::optional<std::size_t>> move_columns(mpi::Context&, CostOperand<A>&, const LogUpdate&, \
                                                                std::span<const LogVectors<A>>);                  \
  template std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context&, const Stage<A>&, const Limits&);   \
  template std::vector<std::optional<Outcome>> stage_by_logarithms(mpi::Context&, const Stage<A>&, const Limits&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
