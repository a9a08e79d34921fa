#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/mpi/communicator.hpp"

namespace plait::bench {

/// One of those that are timed in turn, or a time that is known.
struct Contender {
  std::string name;
  std::function<void()> run;
  double seconds = 0;  // where there is nothing to run
};

/// A time that was promised, or that follows from what the hardware is said to do.
[[nodiscard]] inline Contender known_time(std::string name, double seconds) { return {std::move(name), {}, seconds}; }

/// How many rounds are timed: `least`, and then more of them until the timed seconds of all contenders together come to
/// `seconds` or there are `most`. Short cases need many samples, and long ones can't have them.
struct Repetitions {
  int least = 10;
  int most = 100;
  double seconds = 1;

  [[nodiscard]] static Repetitions exactly(int count) { return {count, count, 0}; }
};

/// Times the contenders in turn, first, second… last, first…, so that whatever else happens on the machine meets all of
/// them. Returns [contender][round] in seconds, the same on all ranks. Collective over `comm`.
///
/// Before each run every rank calls `rewrite`, which leaves the caches in the same state for all, and waits for the
/// others; the time of the slowest rank counts. A known time stands in each round.
///
/// \pre  repetitions.least >= 1
[[nodiscard]] std::vector<std::vector<double>> measure(const mpi::Communicator& comm,
                                                       std::span<const Contender> contenders,
                                                       const std::function<void()>& rewrite,
                                                       const Repetitions& repetitions);

}  // namespace plait::bench
