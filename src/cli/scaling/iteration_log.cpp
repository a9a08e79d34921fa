#include "cli/scaling/iteration_log.hpp"

namespace plait::cli {

void IterationLog::took(Index iteration, double error) {
  const Nanoseconds now = steady_nanoseconds();
  if (errors.empty()) {
    first = iteration;
    began = shown_begin = now;
  }
  if (errors.empty() || iteration <= last_) errors.emplace_back();
  errors.back().push_back(error);
  last_ = iteration;
  ended = now;
  if (iterations() > 1 && shown < most_shown) {
    ++shown;
    shown_end = now;
  }
}

Index IterationLog::iterations() const noexcept {
  Index count = 0;
  for (const auto& each : errors) count += static_cast<Index>(each.size());
  return count;
}

double IterationLog::seconds_each() const noexcept {
  const Index count = iterations();
  return count > 1 ? seconds(ended - began) / static_cast<double>(count - 1) : 0;
}

}  // namespace plait::cli
