#pragma once

#include <string>

#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// A run of iterations as it goes on, and the rule by which all of them end. It begins where `limits.checkpoints.from`
/// has come to. Local; what it is told has to be the same on all ranks.
class Course {
 public:
  /// \param rounding  the difference between 1 and the next number of those that are computed with
  /// \param span      how large the terms of exponents are: in logarithms, costs in units of epsilon
  /// \param is_plain  whether the update is: see `Update`
  Course(const Limits& limits, double rounding, double span = 0, bool is_plain = true);

  /// Notes what is left of the error after one more iteration, and tells the listener.
  void took(double error);

  /// Keeps the state that comes before the next iteration, if it is time to.
  template <class State>
  void keep(State&& state) const {
    const ScalingCheckpoints& checkpoints = limits_.checkpoints;
    if (!checkpoints.keep || !checkpoints.is_due || !checkpoints.is_due(outcome_.iterations)) return;
    ScalingState kept = state();
    kept.errors = outcome_.errors;
    checkpoints.keep(kept);
  }

  /// Whether that is what was wanted, or what rounding leaves. The outcome says which.
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool is_at_limit() const noexcept { return outcome_.iterations >= limits_.most_iterations; }
  /// Whether it is time to ask if there is an end at all.
  [[nodiscard]] bool is_slow() const;
  /// Whether the numbers are as good as rounding lets them be.
  [[nodiscard]] bool is_rounding() const;
  /// Whether this is proof that there is no plan. The outcome says so.
  [[nodiscard]] bool is_proof(const Feasibility& found, const CheckedMarginals& marginals);

  /// \param found  what may be the reason
  const Outcome& at_limit(const Feasibility& found = {}, const AxisNames& names = {});
  const Outcome& ended(Status status, std::string reason);

  [[nodiscard]] const Outcome& outcome() const noexcept { return outcome_; }

 private:
  Limits limits_;
  double rounding_;
  double span_;
  bool is_plain_;
  Outcome outcome_;
};

}  // namespace plait::sinkhorn
