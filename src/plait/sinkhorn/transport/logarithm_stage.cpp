#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/transport/stages.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

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

template std::vector<std::optional<std::size_t>> move_columns(mpi::Context&, CostOperand<double>&, const LogUpdate&,
                                                              std::span<const LogColumns<double>>);
template std::vector<std::optional<std::size_t>> move_columns(mpi::Context&, CostOperand<float>&, const LogUpdate&,
                                                              std::span<const LogColumns<float>>);

namespace {

/// Several problems whose costs are read, or made, once an iteration for all. The listener is told the largest error.
template <class A>
class Logarithms final : public Method {
 public:
  Logarithms(mpi::Context& context, const Stage<A>& stage, std::span<const StageProblem<A>> problems)
      : Method(marginals_of(problems)),
        context_(context),
        stage_(stage),
        problems_(problems),
        of_rows_(stage.update.row_exponent),
        of_columns_(stage.update.column_exponent),
        columns_(static_cast<std::size_t>(stage.costs.columns())),
        sums_(context, columns_ + riders),
        slots_(problems.size()) {
    vectors_.reserve(problems.size());
    swept_.reserve(problems.size());
  }

  void rows(std::span<const std::size_t> problems, std::span<Found> found) override {
    sums_.clear(problems.size());
    vectors_.clear();
    for (const std::size_t k : problems) {
      const StageProblem<A>& problem = problems_[k];
      slots_[k] = vectors_.size();
      vectors_.push_back({problem.marginals.rows, problem.f, problem.g, sums_of(k)});
    }
    swept_.assign(problems.size(), RowsSwept{});
    stage_.costs.sweep(vectors_, of_rows_, swept_);
    for (std::size_t n = 0; n < swept_.size(); ++n) {
      const auto with = sums_.of(n).subspan(columns_);
      with[0] = static_cast<A>(swept_[n].wanted);
      with[1] = static_cast<A>(swept_[n].unreached);
    }
    sums_.add_up();
    for (std::size_t n = 0; n < found.size(); ++n) {
      const auto sums = sums_.of(n);
      found[n] = {error_of(problems_[problems[n]], sums), sums[columns_ + 1] > 0};
    }
  }

  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> problems) override {
    std::vector<LogColumns<A>> moved;
    for (const std::size_t k : problems) {
      moved.push_back({problems_[k].marginals.columns, problems_[k].f, problems_[k].g, sums_of(k)});
    }
    const auto lost = move_columns<A>(context_, stage_.costs, of_columns_, moved);
    std::vector<std::size_t> out_of_range;
    for (std::size_t n = 0; n < problems.size(); ++n) {
      if (lost[n]) {
        out_of_range.push_back(problems[n]);
      } else if (!stage_.update.is_balanced()) {
        translate(problems[n]);
      }
    }
    return out_of_range;
  }

  [[nodiscard]] std::optional<Iterate> iterate(std::size_t problem) override {
    return Iterate{std::span(problems_[problem].g), true, problems_[problem].marginals.columns};
  }
  void find_slopes(std::size_t problem, std::span<double> slopes) override {
    const StageProblem<A>& of = problems_[problem];
    const auto sums = sums_.of(slots_[problem]);
    for (std::size_t j = 0; j < columns_; ++j) {
      slopes[j] =
          of_columns_.wanted(of.marginals.columns[j], static_cast<double>(of.g[j])) - static_cast<double>(sums[j]);
    }
  }

  [[nodiscard]] std::vector<Feasibility> look_for_proof(std::span<const std::size_t> problems) override {
    if (!stage_.update.is_balanced()) return Method::look_for_proof(problems);
    std::vector<std::vector<double>> heights;
    std::vector<RowHeights> asked;
    mpi::agreed(context_, [&] {
      heights.reserve(problems.size());
      for (const std::size_t k : problems) {
        heights.emplace_back(problems_[k].f.begin(), problems_[k].f.end());
        asked.push_back({&problem(k), heights.back()});
      }
    });
    auto found = stage_.costs.feasibility(context_, asked);
    for (Feasibility& one : found) one.is_tight = false;  // of costs that are no reason
    return found;
  }

  /// Rows or columns that reach some that have a sum got none, and there is no proof that they can't: it is rounding.
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index iteration) const override {
    return {
        iterate::End::numbers,
        fmt::format(
            "sums left the range of numbers in iteration {} of a stage where costs are up to {:.3g} times epsilon, "
            "which {} round to {:.3g} epsilons; a larger epsilon is needed",
            iteration, stage_.span, std::is_same_v<A, double> ? "doubles" : "floats", stage_.span * roundoff_of<A>())};
  }

 private:
  // What rows are to sum up to, and how many reach nothing.
  static constexpr std::size_t riders = 2;

  [[nodiscard]] static std::vector<const CheckedMarginals*> marginals_of(std::span<const StageProblem<A>> problems) {
    std::vector<const CheckedMarginals*> marginals;
    for (const StageProblem<A>& problem : problems) marginals.push_back(&problem.marginals);
    return marginals;
  }

  [[nodiscard]] std::span<A> sums_of(std::size_t problem) { return sums_.of(slots_[problem]).first(columns_); }

  [[nodiscard]] double error_of(const StageProblem<A>& problem, std::span<const A> sums) const {
    double distance = 0;
    double whole = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
      const double wanted = of_columns_.wanted(problem.marginals.columns[j], static_cast<double>(problem.g[j]));
      distance += std::abs(static_cast<double>(sums[j]) - wanted);
      whole += wanted;
    }
    return whole > 0 ? distance / whole : distance;
  }

  /// See `translation`.
  void translate(std::size_t k) {
    const StageProblem<A>& problem = problems_[k];
    double wanted_of_columns = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
      wanted_of_columns += of_columns_.wanted(problem.marginals.columns[j], static_cast<double>(problem.g[j]));
    }
    const auto wanted_of_rows = static_cast<double>(sums_.of(slots_[k])[columns_]);
    const double shift = translation(of_rows_, of_columns_, wanted_of_rows, wanted_of_columns);
    for (A& potential : problem.f) potential = static_cast<A>(static_cast<double>(potential) + shift);
    for (A& potential : problem.g) potential = static_cast<A>(static_cast<double>(potential) - shift);
  }

  mpi::Context& context_;
  const Stage<A>& stage_;
  std::span<const StageProblem<A>> problems_;
  LogUpdate of_rows_;
  LogUpdate of_columns_;
  std::size_t columns_;
  BatchSums<A> sums_;
  std::vector<std::size_t> slots_;  // of each problem that takes part
  std::vector<LogVectors<A>> vectors_;
  std::vector<RowsSwept> swept_;
};

}  // namespace

iterate::Rounding rounding_of_logarithms(double roundoff, double span, iterate::Errors errors) {
  return {roundoff, span, errors, fmt::format("costs that are up to {:.3g} times epsilon", span)};
}

template <class A>
std::vector<Outcome> stage_by_logarithms(mpi::Context& context, const Stage<A>& stage,
                                         std::span<const StageProblem<A>> problems, const Limits& limits) {
  Logarithms<A> method(context, stage, problems);
  const auto errors = stage.update.is_balanced() ? iterate::Errors::fall : iterate::Errors::fluctuate;
  auto outcomes = iterated(context, method, limits, rounding_of_logarithms(roundoff_of<A>(), stage.span, errors));
  for (Outcome& outcome : outcomes) {
    if (outcome.is_out_of_range) outcome.error = infinity;
  }
  return outcomes;
}

template std::vector<Outcome> stage_by_logarithms(mpi::Context&, const Stage<double>&,
                                                  std::span<const StageProblem<double>>, const Limits&);
template std::vector<Outcome> stage_by_logarithms(mpi::Context&, const Stage<float>&,
                                                  std::span<const StageProblem<float>>, const Limits&);

}  // namespace plait::sinkhorn
