#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/scaling/methods.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

/// Makes marginals what sums are to be where factors are those beside these potentials. Whether these are numbers.
template <class A>
bool put_beside(const std::vector<A>& potentials, const LogUpdate& update, std::vector<double>& marginals) {
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    if (marginals[i] == 0) continue;
    marginals[i] = update.wanted(marginals[i], static_cast<double>(potentials[i]));
    if (!(marginals[i] > 0) || !std::isfinite(marginals[i])) return false;
  }
  return true;
}

/// The factor that a potential is.
template <class A>
A factor_of(A potential) {
  return static_cast<A>(std::exp(static_cast<double>(potential)));
}

/// Adds logarithms of factors to the potentials that these were found beside. Whether all are numbers that have mass.
template <class A>
bool add_factors(std::vector<A>& potentials, const std::vector<A>& factors, std::span<const double> masses) {
  bool are_numbers = true;
  for (std::size_t j = 0; j < potentials.size(); ++j) {
    potentials[j] = static_cast<A>(static_cast<double>(potentials[j]) + std::log(static_cast<double>(factors[j])));
    are_numbers = are_numbers && (masses[j] == 0 || std::isfinite(potentials[j]));
  }
  return are_numbers;
}

}  // namespace

template <class A>
std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context& context, const Stage<A>& stage,
                                                     const Limits& limits) {
  const auto& problems = stage.problems;
  const bool is_one = problems.size() == 1;
  std::vector<A> f;
  std::vector<A> g;
  std::vector<A> column_sums;
  const auto kernel = mpi::agreed(context, [&] {
    f.resize(static_cast<std::size_t>(stage.costs.rows()));
    g.resize(static_cast<std::size_t>(stage.costs.columns()));
    column_sums.resize(g.size());
    if (is_one) g = problems[0]->result.g;
    StoredKernel<A> made(stage.costs);
    stage.costs.fill(made.matrix, f, g, column_sums);
    return made;
  });
  collective::allreduce(context, std::span<A>(column_sums), simd::ReduceOperation::sum);
  std::vector<CheckedMarginals> beside;  // the kernel
  std::vector<int> fits;                 // of each: whether all are numbers
  mpi::agreed(context, [&] {
    beside.reserve(problems.size());
    for (TransportProblem<A>* problem : problems) {
      CheckedMarginals& of = beside.emplace_back(problem->reached);
      bool fit = put_beside(f, stage.update.rows, of.rows);
      if (is_one) {
        problem->result.f = f;
        fit = put_beside(g, stage.update.columns, of.columns) && fit;
      }
      for (std::size_t j = 0; j < g.size(); ++j) {
        const A start = is_one ? A{1} : factor_of(problem->result.g[j]);
        fit = fit && (of.columns[j] == 0 || (column_sums[j] > lowest_sum<A> && start > 0 && std::isfinite(start)));
      }
      fits.push_back(fit ? 1 : 0);
    }
  });
  mpi::all_reduce(context.comm(), std::span<int>(fits), mpi::Operation::minimum());
  std::vector<std::optional<Outcome>> outcomes(problems.size());
  if (std::ranges::max(fits) == 0) return outcomes;
  std::vector<std::size_t> numbers;  // of those that fit
  std::vector<const CheckedMarginals*> marginals;
  std::vector<Factors<A>> factors;
  auto rows = mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      if (fits[k] == 0) continue;
      numbers.push_back(k);
      marginals.push_back(&beside[k]);
      Factors<A>& of = factors.emplace_back(beside[k].rows, beside[k].columns);
      for (std::size_t j = 0; j < of.v.size() && !is_one; ++j) {
        of.v[j] = of.column_marginals[j] == 0 ? A{0} : factor_of(problems[k]->result.g[j]);
      }
    }
    return DenseRows<A, A>(kernel.matrix, numbers.size(), context.topology().threads());
  });
  FactorMethod<A, DenseRows<A, A>> method(context, std::move(marginals), rows, std::move(factors), stage.update);
  auto found = iterated(context, method, limits, {roundoff_of<A>()});
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const Factors<A>& of = method.factors()[n];
    Transport<A>& result = problems[numbers[n]]->result;
    std::vector<A> better = g;  // as good as the way was, even where it ended
    const bool are_numbers = add_factors(better, of.v, of.column_marginals);
    if (are_numbers || !found[n].is_out_of_range) result.g = std::move(better);
    if (found[n].is_out_of_range) continue;
    result.f = f;
    add_factors(result.f, of.u, of.row_marginals);
    outcomes[numbers[n]] = std::move(found[n]);
  }
  return outcomes;
}

template <class A>
std::vector<std::optional<std::size_t>> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                     const LogUpdate& update, std::span<const LogVectors<A>> problems) {
  const auto move = [&update](A& g, double log_ratio) {
    const auto old = static_cast<double>(g);
    g = static_cast<A>(old + update.change(old, log_ratio));
  };
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
        move(problem.g[j], std::log(problem.column_marginals[j] / static_cast<double>(problem.sums[j])));
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
      move(problem.g[j], std::log(problem.column_marginals[j]) - log_sum);
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
