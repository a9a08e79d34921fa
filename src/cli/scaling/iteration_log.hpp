#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/timeline.hpp"

namespace plait::cli {

/// How the iterations of a job went on, for its page.
struct IterationLog {
  /// Iterations that are shown in a timeline: from the second on, as the first one tries out how to go on.
  static constexpr Index most_shown = 12;

  /// Errors after each iteration; a new vector where the count begins anew: with a smaller epsilon, or in another
  /// domain.
  std::vector<std::vector<double>> errors;
  Index first = 0;                  // of the first vector, the number of its first iteration; 0 before there is any
  Nanoseconds shown_begin = never;  // times of those that are shown, on this rank's steady clock
  Nanoseconds shown_end = never;
  Index shown = 0;
  Nanoseconds began = never;  // the end of the first and of the last iteration
  Nanoseconds ended = never;

  void took(Index iteration, double error);

  [[nodiscard]] Index iterations() const noexcept;
  /// Of an iteration but the first one, with what is decided between them; 0 if there was one only.
  [[nodiscard]] double seconds_each() const noexcept;

 private:
  Index last_ = 0;
};

}  // namespace plait::cli
