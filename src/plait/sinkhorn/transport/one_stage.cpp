#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/memory.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"
#include "plait/sinkhorn/scaling/batch_method.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/transport/stages.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

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

/// A problem beside the stored matrix.
template <class A>
struct Beside {
  std::optional<std::vector<double>> rows;     // what sums are to be
  std::optional<std::vector<double>> columns;  //
  std::optional<std::vector<A>> start;         // factors of columns
};

}  // namespace

template <class A>
std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context& context, const Stage<A>& stage,
                                                     std::span<const StageProblem<A>> problems, const Limits& limits) {
  const bool is_one = problems.size() == 1;
  std::vector<std::optional<Outcome>> outcomes(problems.size());
  std::vector<A> f;
  std::vector<A> g;
  mpi::agreed(context, [&] {
    f.resize(static_cast<std::size_t>(stage.costs.rows()));
    g.resize(static_cast<std::size_t>(stage.costs.columns()));
    if (is_one) g = problems[0].g;
  });
  const StoredFactors<A> stored = stored_factors(context, stage, f, g);
  if (is_one) std::ranges::copy(f, problems[0].f.begin());
  std::vector<Beside<A>> beside_it(problems.size());
  std::vector<int> is_in_range(problems.size(), 1);
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      const CheckedMarginals& marginals = problems[k].marginals;
      Beside<A>& of = beside_it[k];
      of.rows = beside(f, marginals.rows, stage.update.row_exponent);
      of.columns = is_one ? beside(g, marginals.columns, stage.update.column_exponent) : std::vector<double>();
      of.start = is_one ? std::vector<A>() : as_factors(problems[k].g, marginals);
      if (!of.rows || !of.columns || !of.start || !reaches_all(stored.column_sums, marginals)) is_in_range[k] = 0;
    }
  });
  mpi::all_reduce(context.comm(), std::span<int>(is_in_range), mpi::Operation::minimum());
  std::vector<std::size_t> scaled;
  std::vector<Marginals> marginals;
  std::vector<std::vector<A>> starts;
  mpi::agreed(context, [&] {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      if (is_in_range[k] == 0) continue;
      const CheckedMarginals& given = problems[k].marginals;
      scaled.push_back(k);
      marginals.push_back({*beside_it[k].rows, is_one ? *beside_it[k].columns : given.columns});
      starts.push_back(std::move(*beside_it[k].start));
    }
  });
  if (scaled.empty()) return outcomes;
  std::vector<Scaling<A>> scalings;
  if (is_one) {
    scalings.push_back(scale<A, A>(context, stored.matrix, marginals[0], limits, {}, stage.update));
  } else {
    scalings = scale_batch<A, A>(context, stored.matrix, marginals, limits, stage.update, starts);
  }
  for (std::size_t n = 0; n < scaled.size(); ++n) {
    const StageProblem<A>& problem = problems[scaled[n]];
    if (!take_columns(scalings[n], g, problem.marginals, problem.g)) continue;
    for (std::size_t i = 0; i < f.size(); ++i) problem.f[i] = moved_by(f[i], scalings[n].u[i]);
    outcomes[scaled[n]] = std::move(scalings[n].outcome);
  }
  return outcomes;
}

template std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context&, const Stage<double>&,
                                                              std::span<const StageProblem<double>>, const Limits&);
template std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context&, const Stage<float>&,
                                                              std::span<const StageProblem<float>>, const Limits&);

namespace {

template <class A>
void move_potential(A& g, const LogUpdate& update, double log_ratio) {
  const auto old = static_cast<double>(g);
  g = static_cast<A>(old + update.change(old, log_ratio));
}

/// Columns of which nothing is left in the sums, of all problems, one problem behind the other.
struct LostColumns {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> ends;  // of each problem

  [[nodiscard]] std::size_t begin_of(std::size_t k) const { return k == 0 ? 0 : ends[k - 1]; }
  [[nodiscard]] std::span<const std::size_t> of(std::size_t k) const {
    return std::span(columns).subspan(begin_of(k), ends[k] - begin_of(k));
  }
  [[nodiscard]] std::span<double> of(std::size_t k, std::vector<double>& values) const {
    return std::span(values).subspan(begin_of(k), ends[k] - begin_of(k));
  }
};

template <class A>
LostColumns move_sound_columns(const LogUpdate& update, std::span<const LogColumns<A>> problems) {
  LostColumns lost;
  for (const LogColumns<A>& problem : problems) {
    for (std::size_t j = 0; j < problem.g.size(); ++j) {
      if (problem.marginals[j] == 0) {
        problem.g[j] = -std::numeric_limits<A>::infinity();
      } else if (!(problem.sums[j] >= lowest_sum<A>)) {
        lost.columns.push_back(j);
      } else {
        move_potential(problem.g[j], update, std::log(problem.marginals[j] / static_cast<double>(problem.sums[j])));
      }
    }
    lost.ends.push_back(lost.columns.size());
  }
  return lost;
}

}  // namespace

template <class A>
std::vector<std::optional<std::size_t>> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                     const LogUpdate& update, std::span<const LogColumns<A>> problems) {
  std::vector<std::optional<std::size_t>> out_of_range(problems.size());
  const LostColumns lost = move_sound_columns(update, problems);
  if (lost.columns.empty()) return out_of_range;
  std::vector<double> maxima;
  std::vector<double> exact;
  mpi::agreed(context, [&] {
    maxima.resize(lost.columns.size(), -std::numeric_limits<double>::infinity());
    exact.resize(lost.columns.size());
  });
  for (std::size_t k = 0; k < problems.size(); ++k) {
    if (!lost.of(k).empty()) costs.column_maxima(lost.of(k), problems[k].f, lost.of(k, maxima));
  }
  collective::allreduce(context, std::span<double>(maxima), simd::ReduceOperation::max);
  bool is_any_left = false;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    for (std::size_t n = lost.begin_of(k); n < lost.ends[k] && !out_of_range[k]; ++n) {
      if (!std::isfinite(maxima[n])) out_of_range[k] = lost.columns[n];
    }
    if (out_of_range[k] || lost.of(k).empty()) continue;
    is_any_left = true;
    costs.column_sums(lost.of(k), problems[k].f, lost.of(k, maxima), lost.of(k, exact));
  }
  if (!is_any_left) return out_of_range;
  collective::allreduce(context, std::span<double>(exact), simd::ReduceOperation::sum);
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const LogColumns<A>& problem = problems[k];
    for (std::size_t n = lost.begin_of(k); n < lost.ends[k] && !out_of_range[k]; ++n) {
      const std::size_t j = lost.columns[n];
      const double log_sum = maxima[n] + std::log(exact[n]) + static_cast<double>(problem.g[j]);
      move_potential(problem.g[j], update, std::log(problem.marginals[j]) - log_sum);
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

  Logarithms(mpi::Context& context, const Stage<A>& stage, std::span<const StageProblem<A>> problems)
      : BatchMethod<A, Logarithms>(context, context, marginals_of(problems), stage.costs.columns(), stage.update),
        stage_(stage),
        problems_(problems) {
    vectors_.reserve(problems.size());
  }

  void sweep(std::span<const std::size_t> problems, std::span<RowsSwept> swept) {
    vectors_.clear();
    for (const std::size_t k : problems) {
      const StageProblem<A>& problem = problems_[k];
      vectors_.push_back({problem.marginals.rows, problem.f, problem.g, this->sums_of(k)});
    }
    stage_.costs.sweep(vectors_, this->of_rows(), swept);
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> problems) override {
    std::vector<LogColumns<A>> moved;
    for (const std::size_t k : problems) {
      moved.push_back({problems_[k].marginals.columns, problems_[k].f, problems_[k].g, this->sums_of(k)});
    }
    const auto lost = move_columns<A>(this->context(), stage_.costs, this->of_columns(), moved);
    std::vector<std::size_t> out_of_range;
    for (std::size_t n = 0; n < problems.size(); ++n) {
      if (lost[n] || !this->translate(problems[n])) out_of_range.push_back(problems[n]);
    }
    return out_of_range;
  }

  [[nodiscard]] double wanted(std::size_t k, std::size_t j) const {
    return this->of_columns().wanted(problems_[k].marginals.columns[j], static_cast<double>(problems_[k].g[j]));
  }
  [[nodiscard]] double sum(std::size_t /*k*/, std::size_t /*j*/, A of_rows) const {
    return static_cast<double>(of_rows);
  }
  [[nodiscard]] bool shift(std::size_t k, double by) {
    for (A& potential : problems_[k].f) potential = static_cast<A>(static_cast<double>(potential) + by);
    for (A& potential : problems_[k].g) potential = static_cast<A>(static_cast<double>(potential) - by);
    return true;
  }
  [[nodiscard]] const std::vector<A>& heights(std::size_t k) const { return problems_[k].f; }
  [[nodiscard]] std::vector<Feasibility> prove(std::span<const RowHeights> asked) {
    auto found = stage_.costs.feasibility(this->context(), asked);
    for (Feasibility& one : found) one.is_tight = false;  // of costs that are no reason
    return found;
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t k) override {
    return Iterate{std::span(problems_[k].g), true, problems_[k].marginals.columns};
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

  void save(iterate::Checkpoint& checkpoint) const override {
    checkpoint.by_rank["f"].assign(problems_[0].f.begin(), problems_[0].f.end());
    checkpoint.shared["g"].assign(problems_[0].g.begin(), problems_[0].g.end());
  }
  void resume(const iterate::Checkpoint& checkpoint) override {
    take(checkpoint.by_rank, "f", "potentials of rows", std::span(problems_[0].f));
    take(checkpoint.shared, "g", "potentials of columns", std::span(problems_[0].g));
  }

 private:
  [[nodiscard]] static std::vector<const CheckedMarginals*> marginals_of(std::span<const StageProblem<A>> problems) {
    std::vector<const CheckedMarginals*> marginals;
    for (const StageProblem<A>& problem : problems) marginals.push_back(&problem.marginals);
    return marginals;
  }

  const Stage<A>& stage_;
  std::span<const StageProblem<A>> problems_;
  std::vector<LogVectors<A>> vectors_;
};

}  // namespace

iterate::Rounding rounding_of_logarithms(double roundoff, double span, iterate::Errors errors) {
  return {roundoff, span, errors, fmt::format("costs that are up to {:.3g} times epsilon", span)};
}

template <class A>
std::vector<std::optional<Outcome>> stage_by_logarithms(mpi::Context& context, const Stage<A>& stage,
                                                        std::span<const StageProblem<A>> problems,
                                                        const Limits& limits) {
  Logarithms<A> method(context, stage, problems);
  const auto errors = stage.update.is_balanced() ? iterate::Errors::fall : iterate::Errors::fluctuate;
  auto outcomes = iterated(context, method, limits, rounding_of_logarithms(roundoff_of<A>(), stage.span, errors));
  for (Outcome& outcome : outcomes) {
    if (outcome.is_out_of_range) outcome.error = infinity;
  }
  return mpi::agreed(context, [&] { return std::vector<std::optional<Outcome>>(outcomes.begin(), outcomes.end()); });
}

#define PLAIT_INSTANTIATE(A)                                                                                      \
  template std::vector<std::optional<std::size_t>> move_columns(mpi::Context&, CostOperand<A>&, const LogUpdate&, \
                                                                std::span<const LogColumns<A>>);                  \
  template std::vector<std::optional<Outcome>> stage_by_logarithms(mpi::Context&, const Stage<A>&,                \
                                                                   std::span<const StageProblem<A>>, const Limits&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
