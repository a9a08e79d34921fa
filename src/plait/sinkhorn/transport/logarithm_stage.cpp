#include "plait/sinkhorn/transport/logarithm_stage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/transport/log_columns.hpp"

namespace plait::sinkhorn {

namespace {

/// A problem on its way.
template <class A>
struct LogarithmRun {
  const StageProblem<A>* problem = nullptr;
  Course course;
  std::optional<Outcome> outcome = {};  // when it has come to its end
};

template <class A>
class Logarithms {
 public:
  Logarithms(mpi::Context& context, const Stage<A>& stage, std::span<const StageProblem<A>> problems,
             const Limits& limits)
      : context_(context),
        stage_(stage),
        of_rows_(stage.update.row_exponent, stage.update.over_relaxation),
        of_columns_(stage.update.column_exponent, stage.update.over_relaxation),
        limits_(limits) {
    mpi::agreed(context, [&] {
      if (const ScalingState* from = limits.checkpoints.from) expect_fewer(*from, limits.most_iterations);
      Limits silent = limits;
      silent.listener = {};
      for (const StageProblem<A>& problem : problems) {
        runs_.push_back({&problem, Course(silent, roundoff_of<A>(), stage.span)});
      }
    });
  }

  [[nodiscard]] std::vector<Outcome> to_the_end() {
    while (true) {
      choose_who_goes_on();
      if (active_.empty()) break;
      sweep();
      (*sums_over_ranks_)(all_);
      take_errors();
      for (std::size_t slot = 0; slot < active_.size(); ++slot) end_or_move_columns(*active_[slot], of_slot(slot));
    }
    std::vector<Outcome> outcomes;
    for (LogarithmRun<A>& run : runs_) outcomes.push_back(std::move(*run.outcome));
    return outcomes;
  }

 private:
  static constexpr std::size_t riders = 2;  // what rows are off by, and how many reach nothing

  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(stage_.costs.columns()); }
  /// The sums of a problem's columns, and what rides along with them.
  [[nodiscard]] std::span<A> of_slot(std::size_t slot) {
    return std::span(all_).subspan(slot * (columns() + riders), columns() + riders);
  }

  void choose_who_goes_on() {
    active_.clear();
    for (LogarithmRun<A>& run : runs_) {
      if (!run.outcome && run.course.is_at_limit()) at_limit(run);
      if (!run.outcome) active_.push_back(&run);
    }
    // Messages are made anew when half of them would be nobody's.
    if (active_.empty() || (sums_over_ranks_ && 2 * active_.size() > room_)) return;
    room_ = active_.size();
    mpi::agreed(context_, [&] {
      all_.resize(room_ * (columns() + riders));
      vectors_.reserve(room_);
      swept_.reserve(room_);
    });
    sums_over_ranks_.reset();
    sums_over_ranks_.emplace(context_, static_cast<Index>(all_.size()));
  }

  void sweep() {
    std::ranges::fill(all_, A{0});
    vectors_.clear();
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      const StageProblem<A>& problem = *active_[slot]->problem;
      vectors_.push_back({problem.marginals.rows, problem.f, problem.g, of_slot(slot).first(columns())});
    }
    swept_.assign(active_.size(), RowsSwept{});
    stage_.costs.sweep(vectors_, of_rows_, swept_);
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      of_slot(slot)[columns()] = static_cast<A>(swept_[slot].distance);
      of_slot(slot)[columns() + 1] = static_cast<A>(swept_[slot].unreached);
    }
  }

  void take_errors() {
    double largest = 0;
    Index iteration = 0;
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      const double error = error_of(*active_[slot]->problem, of_slot(slot));
      active_[slot]->course.took(error);
      iteration = std::max(iteration, active_[slot]->course.outcome().iterations);
      if (!(error <= largest)) largest = error;
    }
    if (limits_.listener) limits_.listener(iteration, largest);
  }

  [[nodiscard]] double error_of(const StageProblem<A>& problem, std::span<const A> sums) const {
    auto distance = static_cast<double>(sums[columns()]);
    double whole = 0;
    for (std::size_t j = 0; j < columns(); ++j) {
      const double wanted = of_columns_.wanted(problem.marginals.columns[j], static_cast<double>(problem.g[j]));
      distance += std::abs(static_cast<double>(sums[j]) - wanted);
      whole += wanted;
    }
    return whole > 0 ? distance / whole : distance;
  }

  void end_or_move_columns(LogarithmRun<A>& run, std::span<const A> sums) {
    if (sums[columns() + 1] > 0 || !std::isfinite(run.course.outcome().error)) return out_of_range(run);
    if (run.course.is_over() || (run.course.is_slow() && is_infeasible(run))) {
      run.outcome = run.course.outcome();
      return;
    }
    if (run.course.is_at_limit()) return;
    const StageProblem<A>& problem = *run.problem;
    const auto lost = move_columns<A>(context_, stage_.costs, problem.marginals.columns, of_columns_, problem.f,
                                      problem.g, sums.first(columns()));
    if (lost) return out_of_range(run);
    run.course.keep([] { return ScalingState(); });
  }

  [[nodiscard]] bool is_infeasible(LogarithmRun<A>& run) {
    if (!stage_.update.is_balanced()) return false;
    const StageProblem<A>& problem = *run.problem;
    const auto heights = mpi::agreed(context_, [&] { return std::vector<double>(problem.f.begin(), problem.f.end()); });
    return run.course.is_proof(stage_.costs.feasibility(context_, problem.marginals, heights), problem.marginals);
  }

  void at_limit(LogarithmRun<A>& run) {
    const bool is_proved = run.course.outcome().iterations > 0 && is_infeasible(run);
    run.outcome = is_proved ? run.course.outcome() : run.course.at_limit();
  }

  /// Rows or columns that reach some that have a sum got none: there is proof that they can't, or it is rounding.
  void out_of_range(LogarithmRun<A>& run) {
    if (is_infeasible(run)) {
      run.outcome = run.course.outcome();
      return;
    }
    run.outcome = run.course.ended(
        Status::numerical_limit,
        fmt::format(
            "sums left the range of numbers in iteration {} of a stage where costs are up to {:.3g} times epsilon, "
            "which {} round to {:.3g} epsilons; a larger epsilon is needed",
            run.course.outcome().iterations, stage_.span, std::is_same_v<A, double> ? "doubles" : "floats",
            stage_.span * roundoff_of<A>()));
    run.outcome->error = std::numeric_limits<double>::infinity();
  }

  mpi::Context& context_;
  const Stage<A>& stage_;
  LogUpdate of_rows_;
  LogUpdate of_columns_;
  const Limits& limits_;
  std::vector<LogarithmRun<A>> runs_;
  std::vector<LogarithmRun<A>*> active_;
  std::optional<SumOverRanks<A>> sums_over_ranks_;
  std::size_t room_ = 0;  // for so many problems
  std::vector<A> all_;
  std::vector<LogVectors<A>> vectors_;
  std::vector<RowsSwept> swept_;
};

}  // namespace

template <class A>
std::vector<Outcome> stage_by_logarithms(mpi::Context& context, const Stage<A>& stage,
                                         std::span<const StageProblem<A>> problems, const Limits& limits) {
  return Logarithms<A>(context, stage, problems, limits).to_the_end();
}

template std::vector<Outcome> stage_by_logarithms(mpi::Context&, const Stage<double>&,
                                                  std::span<const StageProblem<double>>, const Limits&);
template std::vector<Outcome> stage_by_logarithms(mpi::Context&, const Stage<float>&,
                                                  std::span<const StageProblem<float>>, const Limits&);

}  // namespace plait::sinkhorn
