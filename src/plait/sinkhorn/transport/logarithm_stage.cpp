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
        runs_.push_back({&problem, Course(silent, roundoff_of<A>(), stage.span, stage.update.is_plain())});
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
      end_or_move_columns();
    }
    std::vector<Outcome> outcomes;
    for (LogarithmRun<A>& run : runs_) outcomes.push_back(std::move(*run.outcome));
    return outcomes;
  }

 private:
  // What rows are off by, how many reach nothing, and what they are to sum up to.
  static constexpr std::size_t riders = 3;

  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(stage_.costs.columns()); }
  /// The sums of a problem's columns, and what rides along with them.
  [[nodiscard]] std::span<A> of_slot(std::size_t slot) {
    return std::span(all_).subspan(slot * (columns() + riders), columns() + riders);
  }

  void choose_who_goes_on() {
    end_at_limit();
    active_.clear();
    for (LogarithmRun<A>& run : runs_) {
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
      of_slot(slot)[columns() + 2] = static_cast<A>(swept_[slot].wanted);
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

  /// Problems end for their own reasons, but whatever takes messages is asked for all of them at once.
  void end_or_move_columns() {
    std::vector<LogarithmRun<A>*> out_of_range;
    std::vector<LogarithmRun<A>*> in_doubt;
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      LogarithmRun<A>& run = *active_[slot];
      if (of_slot(slot)[columns() + 1] > 0 || !std::isfinite(run.course.outcome().error)) {
        out_of_range.push_back(&run);
        in_doubt.push_back(&run);
      } else if (run.course.is_over()) {
        run.outcome = run.course.outcome();
      } else if (run.course.is_slow()) {
        in_doubt.push_back(&run);
      }
    }
    end_infeasible(in_doubt);
    for (LogarithmRun<A>* run : out_of_range) {
      if (!run->outcome) end_out_of_range(*run);
    }
    move_columns_of_others();
  }

  void move_columns_of_others() {
    std::vector<LogarithmRun<A>*> moved;
    std::vector<LogColumns<A>> of_moved;
    std::vector<double> wanted_of_rows;
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      LogarithmRun<A>& run = *active_[slot];
      if (run.outcome || run.course.is_at_limit()) continue;
      const StageProblem<A>& problem = *run.problem;
      moved.push_back(&run);
      of_moved.push_back({problem.marginals.columns, problem.f, problem.g, of_slot(slot).first(columns())});
      wanted_of_rows.push_back(static_cast<double>(of_slot(slot)[columns() + 2]));
    }
    const auto lost = move_columns<A>(context_, stage_.costs, of_columns_, of_moved);
    std::vector<LogarithmRun<A>*> out_of_range;
    for (std::size_t n = 0; n < moved.size(); ++n) {
      if (lost[n]) out_of_range.push_back(moved[n]);
    }
    end_infeasible(out_of_range);
    for (std::size_t n = 0; n < moved.size(); ++n) {
      if (!lost[n]) {
        if (!stage_.update.is_balanced()) translate(*moved[n]->problem, wanted_of_rows[n]);
        moved[n]->course.keep([] { return ScalingState(); });
      } else if (!moved[n]->outcome) {
        end_out_of_range(*moved[n]);
      }
    }
  }

  /// See `translation`.
  void translate(const StageProblem<A>& problem, double wanted_of_rows) const {
    double wanted_of_columns = 0;
    for (std::size_t j = 0; j < columns(); ++j) {
      wanted_of_columns += of_columns_.wanted(problem.marginals.columns[j], static_cast<double>(problem.g[j]));
    }
    const double shift = translation(of_rows_, of_columns_, wanted_of_rows, wanted_of_columns);
    for (A& potential : problem.f) potential = static_cast<A>(static_cast<double>(potential) + shift);
    for (A& potential : problem.g) potential = static_cast<A>(static_cast<double>(potential) - shift);
  }

  /// Ends those for which there is proof that there is no plan.
  void end_infeasible(const std::vector<LogarithmRun<A>*>& in_doubt) {
    if (!stage_.update.is_balanced() || in_doubt.empty()) return;
    std::vector<std::vector<double>> heights;
    std::vector<RowHeights> asked;
    mpi::agreed(context_, [&] {
      for (const LogarithmRun<A>* run : in_doubt) heights.emplace_back(run->problem->f.begin(), run->problem->f.end());
      for (std::size_t n = 0; n < in_doubt.size(); ++n) asked.push_back({&in_doubt[n]->problem->marginals, heights[n]});
    });
    const auto found = stage_.costs.feasibility_of_each(context_, asked);
    for (std::size_t n = 0; n < in_doubt.size(); ++n) {
      LogarithmRun<A>& run = *in_doubt[n];
      if (run.course.is_proof(found[n], run.problem->marginals)) run.outcome = run.course.outcome();
    }
  }

  void end_at_limit() {
    std::vector<LogarithmRun<A>*> ending;
    std::vector<LogarithmRun<A>*> in_doubt;
    for (LogarithmRun<A>& run : runs_) {
      if (run.outcome || !run.course.is_at_limit()) continue;
      ending.push_back(&run);
      if (run.course.outcome().iterations > 0) in_doubt.push_back(&run);
    }
    end_infeasible(in_doubt);
    for (LogarithmRun<A>* run : ending) {
      if (!run->outcome) run->outcome = run->course.at_limit();
    }
  }

  /// Rows or columns that reach some that have a sum got none, and there is no proof that they can't: it is rounding.
  void end_out_of_range(LogarithmRun<A>& run) {
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
