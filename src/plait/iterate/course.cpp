#include "plait/iterate/course.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::iterate {

const std::vector<double>& vector_of(const std::map<std::string, std::vector<double>>& vectors,
                                     const std::string& name) {
  const auto found = vectors.find(name);
  if (found != vectors.end()) return found->second;
  throw ArgumentError(fmt::format("the state has no {}, expected one of a run of the same kind", name));
}

void expect_valid(const Limits& limits) {
  if (!(limits.tolerance >= 0)) {
    throw ArgumentError(fmt::format("the tolerance is {}, expected a number >= 0", limits.tolerance));
  }
  if (limits.most_iterations < 0) {
    throw ArgumentError(
        fmt::format("the number of iterations is limited to {}, expected >= 0", limits.most_iterations));
  }
}

void name_arguments(const Limits& limits, mpi::Alike& arguments) {
  arguments.add("tolerance", limits.tolerance);
  arguments.add("number of iterations", limits.most_iterations);
}

void name_arguments(const Checkpoint& state, mpi::Alike& arguments) {
  const auto found = state.shared.find("errors");
  const bool has_errors = found != state.shared.end() && !found->second.empty();
  arguments.add("iterations of the state", has_errors ? std::ssize(found->second) : Index{0});
  arguments.add("error of the state", has_errors ? found->second.back() : 0.);
}

Course::Course(const Limits& limits, Rounding rounding, std::string_view measure)
    : limits_(limits), rounding_(std::move(rounding)), measure_(measure) {}

void Course::save(Checkpoint& checkpoint) const {
  checkpoint.shared["errors"] = errors_;
  checkpoint.numbers["errors that may have grown"] = static_cast<double>(fall_from_);
}

void Course::resume(const Checkpoint& checkpoint) {
  errors_ = vector_of(checkpoint.shared, "errors");
  const auto grown = checkpoint.numbers.find("errors that may have grown");
  fall_from_ =
      grown == checkpoint.numbers.end() ? 0 : std::min(errors_.size(), static_cast<std::size_t>(grown->second));
  state_ = {static_cast<Index>(errors_.size()), errors_.empty() ? 0 : errors_.back()};
  if (!is_at_limit()) return;
  throw ArgumentError(fmt::format("the number of iterations is limited to {}, expected more than the {} that were done",
                                  limits_.most_iterations, state_.step));
}

void Course::took(double error) {
  state_.error = error;
  errors_.push_back(error);
  ++state_.step;
}

bool Course::is_due_to_end() const {
  return !errors_.empty() && (state_.error <= limits_.tolerance || is_at_rounding());
}

bool Course::is_over() {
  if (errors_.empty()) return false;
  if (state_.error <= limits_.tolerance) {
    end(End::converged, fmt::format("{} is {:.3g}, the tolerance {:.3g}", measure_, state_.error, limits_.tolerance));
  } else if (is_at_rounding()) {
    const bool is_wide = !is_at_roundoff(std::span(errors_).subspan(fall_from_), rounding_.roundoff);
    end(End::numbers, fmt::format("{} stays at {:.3g}, which is what rounding leaves{}; the tolerance is {:.3g}",
                                  measure_, state_.error, is_wide ? " of " + rounding_.terms : "", limits_.tolerance));
  }
  return state_.end != End::none;
}

void Course::end_at_limit(const std::string& why) {
  const double wanted = limits_.tolerance;
  end(End::limit, fmt::format("{} is {:.3g} after {} iterations{}{}", measure_, state_.error, state_.step,
                              wanted > 0 ? fmt::format(", the tolerance {:.3g}", wanted) : "", why));
}

void Course::finish() {
  end(End::finished, state_.step == 1 ? "the one epoch is done" : fmt::format("all {} epochs are done", state_.step));
}

void Course::end(End end, std::string reason) {
  state_.end = end;
  state_.reason = std::move(reason);
}

}  // namespace plait::iterate
