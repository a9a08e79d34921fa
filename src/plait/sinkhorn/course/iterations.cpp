#include "plait/sinkhorn/course/iterations.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/iterate/course.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/sinkhorn/course/acceleration.hpp"

namespace plait::sinkhorn {

using iterate::End;

namespace {

Status status_of(End end, bool are_uniform) {
  switch (end) {
    case End::limit: return Status::iteration_limit;
    case End::no_solution: return are_uniform ? Status::no_support : Status::infeasible_marginals;
    case End::numbers: return Status::numerical_limit;
    default: return Status::converged;
  }
}

/// Below which errors that do not fall are rounding: see `is_rounding`.
double where_errors_fall(const iterate::Rounding& rounding) {
  const double span = rounding.errors == iterate::Errors::fall ? 4 * rounding.span : 0;
  return std::max(64.0, span) * rounding.roundoff;
}

std::string why_slow(const Feasibility& found) {
  if (!found.is_tight) return {};
  return "; it falls slowly because the matrix has no total support: " + describe(found.bottleneck) +
         ", so that entries of other rows there have to vanish";
}

/// Iterates with a method until each problem has come to its end. Those that have cost nothing more; they end for
/// reasons of their own, but whatever takes messages is asked for all of them at once. An `iterate::Solver`.
class Iterations {
 public:
  /// Collective over `context`, as is `advance`.
  Iterations(mpi::Context& context, Method& method, const Limits& limits, const iterate::Rounding& rounding)
      : context_(&context), method_(&method) {
    mpi::agreed(context, [&] {
      courses_.assign(method.count(),
                      ProblemCourse{iterate::Course({limits.tolerance, limits.most_iterations}, rounding)});
      active_.resize(courses_.size());
      found_.resize(courses_.size());
      moving_.reserve(courses_.size());
      for (std::size_t k = 0; k < courses_.size() && limits.acceleration == Acceleration::automatic; ++k) {
        if (const auto iterate = method.iterate(k))
          courses_[k].acceleration.emplace(*iterate, where_errors_fall(rounding));
      }
      std::iota(active_.begin(), active_.end(), std::size_t{0});
      tell(0);
    });
  }

  bool advance() {
    if (active_.empty()) return false;
    if (courses_[active_.front()].course.is_at_limit()) {  // none was allowed
      mpi::agreed(*context_, [this] {
        for (const std::size_t k : active_) courses_[k].course.end_at_limit();
        tell(state_.error);
      });
      return false;
    }
    find_errors();
    move_columns();
    return !active_.empty();
  }

  /// The step and the largest error of those that took part in it; the end of the first one that did not converge.
  [[nodiscard]] const iterate::State& state() const noexcept { return state_; }
  /// \pre  there is one problem
  void save(iterate::Checkpoint& checkpoint) const {
    method_->save(checkpoint);
    courses_.front().course.save(checkpoint);
    if (courses_.front().acceleration) courses_.front().acceleration->save(checkpoint);
  }

  void resume(const iterate::Checkpoint& checkpoint) {
    courses_.front().course.resume(checkpoint);
    method_->resume(checkpoint);
    if (courses_.front().acceleration) courses_.front().acceleration->resume(checkpoint);
    state_ = courses_.front().course.state();
  }

  [[nodiscard]] std::vector<Outcome> outcomes() const {
    std::vector<Outcome> outcomes;
    for (std::size_t k = 0; k < courses_.size(); ++k) {
      const iterate::State& state = courses_[k].course.state();
      outcomes.push_back({status_of(state.end, method_->problem(k).are_uniform), state.reason, state.step, state.error,
                          courses_[k].course.errors(), courses_[k].is_out_of_range});
      if (state.end == End::limit) outcomes.back().reason += method_->at_limit();
    }
    return outcomes;
  }

 private:
  struct ProblemCourse {
    iterate::Course course;
    std::optional<QuasiNewton> acceleration = {};
    bool is_out_of_range = false;
    bool is_lost = false;  // the step that was made: sums are no numbers
    [[nodiscard]] bool is_over() const { return course.state().end != iterate::End::none; }
    [[nodiscard]] bool is_accelerated() const { return acceleration && acceleration->is_under_way(); }
  };

  /// Most iterations only go on, which takes no memory that has to be agreed upon.
  [[nodiscard]] bool is_anything_to_decide(std::span<const Found> found) const {
    for (std::size_t n = 0; n < found.size(); ++n) {
      const iterate::Course& course = courses_[active_[n]].course;
      if (found[n].is_out_of_range || course.is_due_to_end() || course.is_slow() || course.is_at_limit()) return true;
    }
    return false;
  }

  void find_errors() {
    if (!courses_[active_.front()].course.has_room()) {
      mpi::agreed(*context_, [this] {
        for (const std::size_t k : active_) courses_[k].course.make_room();
      });
    }
    const std::span<Found> found = std::span(found_).first(active_.size());
    std::ranges::fill(found, Found());
    for (const std::size_t k : active_) {
      // What is found last is no worse than the best, and so is what is asked for proof.
      ProblemCourse& own = courses_[k];
      if (!own.is_accelerated() || !(own.course.is_last() || own.course.is_to_be_asked())) continue;
      own.acceleration->go_plainly(*method_->iterate(k));
    }
    method_->rows(active_, found);
    state_.error = 0;
    for (std::size_t n = 0; n < found.size(); ++n) {
      ProblemCourse& own = courses_[active_[n]];
      if (!std::isfinite(found[n].error)) found[n].is_out_of_range = true;
      own.is_lost = found[n].is_out_of_range && own.is_accelerated();
      if (own.is_lost) found[n] = {own.course.state().error};
      own.course.took(found[n].error);
      if (!(found[n].error <= state_.error)) state_.error = found[n].error;
    }
    state_.step = courses_[active_.front()].course.state().step;
    if (!is_anything_to_decide(found)) return;
    std::vector<std::size_t> out_of_range;
    std::vector<std::size_t> doubted;
    mpi::agreed(*context_, [&] {
      for (std::size_t n = 0; n < found.size(); ++n) {
        iterate::Course& course = courses_[active_[n]].course;
        if (found[n].is_out_of_range) {
          out_of_range.push_back(active_[n]);
          doubted.push_back(active_[n]);
        } else if (!course.is_over() && (course.is_slow() || course.is_at_limit())) {
          doubted.push_back(active_[n]);
        }
      }
    });
    end(out_of_range, doubted);
  }

  void move_columns() {
    moving_.clear();
    for (const std::size_t k : active_) {
      if (is_to_move(k)) moving_.push_back(k);
    }
    if (moving_.empty()) return;
    auto lost = method_->columns(moving_);
    for (const std::size_t k : lost) std::erase(moving_, k);
    std::erase_if(lost, [this](std::size_t k) {
      const bool is_undone = courses_[k].is_accelerated();
      if (is_undone) fail(k);
      return is_undone;
    });
    if (!lost.empty()) end(lost, lost);
    for (const std::size_t k : moving_) {
      ProblemCourse& own = courses_[k];
      if (!own.acceleration) continue;
      own.acceleration->moved(*method_->iterate(k), own.course.errors());
      if (own.is_accelerated()) own.course.forget_growth();
    }
  }

  /// Goes back to the plain successor of the iterate before.
  void fail(std::size_t k) {
    courses_[k].acceleration->fail(*method_->iterate(k));
    courses_[k].course.forget_growth();
  }

  [[nodiscard]] bool is_to_move(std::size_t k) {
    ProblemCourse& own = courses_[k];
    if (!own.acceleration) return true;
    const bool is_lost = std::exchange(own.is_lost, false);
    if (!is_lost) {
      method_->find_slopes(k, own.acceleration->slopes());
      if (own.acceleration->has_risen(*method_->iterate(k))) return true;
    }
    fail(k);
    return false;
  }

  void end(std::span<const std::size_t> out_of_range, std::span<const std::size_t> doubted) {
    const auto found = doubted.empty() ? std::vector<Feasibility>() : method_->look_for_proof(doubted);
    mpi::agreed(*context_, [&] {
      for (std::size_t n = 0; n < doubted.size(); ++n) {
        if (!found[n].is_infeasible) continue;
        courses_[doubted[n]].course.end(End::no_solution, describe(found[n].bottleneck));
      }
      for (const std::size_t k : out_of_range) {
        ProblemCourse& own = courses_[k];
        if (own.is_over()) continue;
        auto [end, reason] = method_->out_of_range(k, own.course.state().step);
        own.course.end(end, std::move(reason));
        own.is_out_of_range = true;
      }
      for (std::size_t n = 0; n < doubted.size(); ++n) {
        ProblemCourse& own = courses_[doubted[n]];
        if (own.is_over() || !own.course.is_at_limit()) continue;
        own.course.end_at_limit(why_slow(found[n]));
      }
      tell(state_.error);
    });
  }

  void tell(double error) {
    std::erase_if(active_, [this](std::size_t k) { return courses_[k].is_over(); });
    state_.error = error;
    if (!active_.empty()) return;
    state_.end = End::converged;
    for (const ProblemCourse& own : courses_) {
      if (state_.end != End::converged) break;
      state_.end = own.course.state().end;
      state_.reason = own.course.state().reason;
    }
  }

  mpi::Context* context_;
  Method* method_;
  std::vector<ProblemCourse> courses_;
  std::vector<std::size_t> active_;
  std::vector<Found> found_;         // of these
  std::vector<std::size_t> moving_;  // of these, whose columns are to move
  iterate::State state_;
};

}  // namespace

const std::vector<double>& vector_of(const std::map<std::string, std::vector<double>>& vectors, const std::string& name,
                                     std::string_view what, std::size_t length) {
  const std::vector<double>& found = iterate::vector_of(vectors, name);
  if (found.size() == length) return found;
  throw ArgumentError(fmt::format("the state has {} {}, expected {}", found.size(), what, length));
}

std::string_view name(Status status) noexcept {
  switch (status) {
    case Status::converged: return "converged";
    case Status::iteration_limit: return "iteration limit";
    case Status::no_support: return "no support";
    case Status::infeasible_marginals: return "infeasible marginals";
    case Status::numerical_limit: return "numerical limit";
  }
  return "";
}

void expect_valid(const Limits& limits) {
  iterate::expect_valid({limits.tolerance, limits.most_iterations});
  if (limits.most_support_bytes >= 0) return;
  throw ArgumentError(
      fmt::format("the memory of the support is limited to {} bytes, expected >= 0", limits.most_support_bytes));
}

void name_arguments(const Limits& limits, mpi::Alike& arguments) {
  iterate::name_arguments({limits.tolerance, limits.most_iterations}, arguments);
  arguments.add("acceleration", limits.acceleration);
  arguments.add("listener", limits.listener != nullptr);
  arguments.add("checkpoints", limits.checkpoints.keep != nullptr);
  arguments.add("state to go on from", limits.checkpoints.from != nullptr);
  const iterate::Checkpoint none;
  iterate::name_arguments(limits.checkpoints.from != nullptr ? *limits.checkpoints.from : none, arguments);
}

std::vector<Outcome> iterated(mpi::Context& context, Method& method, const Limits& limits,
                              const iterate::Rounding& rounding) {
  static_assert(iterate::Solver<Iterations>);
  const Checkpoints& checkpoints = limits.checkpoints;
  Iterations iterations(context, method, limits, rounding);
  mpi::agreed(context, [&] {
    if (checkpoints.from != nullptr) iterations.resume(*checkpoints.from);
  });
  iterate::run(iterations, {limits.listener, checkpoints.is_due, checkpoints.keep});
  return mpi::agreed(context, [&] { return iterations.outcomes(); });
}

}  // namespace plait::sinkhorn
