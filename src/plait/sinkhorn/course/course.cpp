#include "plait/sinkhorn/course/course.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plait/sinkhorn/course/stagnation.hpp"

namespace plait::sinkhorn {

Course::Course(const Limits& limits, double rounding, double span, bool is_plain)
    : limits_(limits), rounding_(rounding), span_(span), is_plain_(is_plain) {
  if (const ScalingState* from = limits.checkpoints.from) {
    outcome_.errors = from->errors;
    outcome_.iterations = static_cast<Index>(from->errors.size());
    if (!from->errors.empty()) outcome_.error = from->errors.back();
  }
}

void Course::took(double error) {
  outcome_.error = error;
  outcome_.errors.push_back(error);
  ++outcome_.iterations;
  if (limits_.listener) limits_.listener(outcome_.iterations, error);
}

bool Course::is_over() {
  if (outcome_.errors.empty()) return false;
  if (outcome_.error <= limits_.tolerance) {
    ended(Status::converged,
          fmt::format("the error is {:.3g}, the tolerance {:.3g}", outcome_.error, limits_.tolerance));
    return true;
  }
  if (is_rounding()) {
    const bool is_wide = !is_as_good_as_it_gets(outcome_.errors, rounding_);
    ended(Status::numerical_limit,
          fmt::format(
              "the error stays at {:.3g}, which is what rounding leaves{}; the tolerance is {:.3g}", outcome_.error,
              is_wide ? fmt::format(" of costs that are up to {:.3g} times epsilon", span_) : "", limits_.tolerance));
    return true;
  }
  return false;
}

bool Course::is_slow() const { return sinkhorn::is_slow(outcome_.errors); }

bool Course::is_rounding() const {
  if (outcome_.errors.empty() || !std::isfinite(outcome_.error)) return false;
  if (is_as_good_as_it_gets(outcome_.errors, rounding_)) return true;
  return is_plain_ ? is_lost_in_rounding(outcome_.errors, rounding_, span_)
                   : is_lost_though_it_may_grow(outcome_.errors, rounding_, span_);
}

bool Course::is_proof(const Feasibility& found, const CheckedMarginals& marginals) {
  if (!found.is_infeasible) return false;
  ended(marginals.are_uniform ? Status::no_support : Status::infeasible_marginals,
        describe(found.bottleneck, marginals.names));
  return true;
}

const Outcome& Course::at_limit(const Feasibility& found, const AxisNames& names) {
  std::string reason = fmt::format("the error is {:.3g} after {} iterations, the tolerance {:.3g}", outcome_.error,
                                   outcome_.iterations, limits_.tolerance);
  if (found.is_tight) {
    reason += "; it falls slowly because the matrix has no total support: " + describe(found.bottleneck, names) +
              fmt::format(", so that entries of other {} there have to vanish", names.rows());
  }
  return ended(Status::iteration_limit, std::move(reason));
}

const Outcome& Course::ended(Status status, std::string reason) {
  outcome_.status = status;
  outcome_.reason = std::move(reason);
  return outcome_;
}

}  // namespace plait::sinkhorn
