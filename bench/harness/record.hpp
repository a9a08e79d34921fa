#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/statistics.hpp"

namespace plait::bench {

/// A figure with the interval that holds it with 95 %: see `median_interval`.
struct Figure {
  double median = 0;
  Interval spread;
  friend bool operator==(const Figure&, const Figure&) = default;
};

[[nodiscard]] Figure figure(std::span<const double> samples);

/// What figures should come to at least. What is not set is not asked for.
struct Goal {
  std::optional<double> fraction_of_limit;
  std::optional<double> speedup_over_peer;
  std::optional<double> cost_over_best = {};  // at most: plait's cost ÷ the least of the peer and the others
  [[nodiscard]] bool empty() const noexcept { return !fraction_of_limit && !speedup_over_peer && !cost_over_best; }
  friend bool operator==(const Goal&, const Goal&) = default;
};

/// All times of one contender in a case, in seconds, in the order of the rounds.
struct Samples {
  std::string contender;
  std::vector<double> seconds;
  friend bool operator==(const Samples&, const Samples&) = default;
};

/// How a case compares with another program that does the same job.
struct Comparison {
  std::string peer;
  double seconds = 0;  // median
  Figure speedup;      // its time ÷ plait's, round by round
  friend bool operator==(const Comparison&, const Comparison&) = default;
};

/// What was measured in one case.
struct Record {
  std::string name;  // such as `gemr2d f64 8000x8000 2x1>1x2 ranks=2`
  Figure seconds;
  double setup_seconds = 0;  // once before all calls, not part of `seconds`
  std::string limit;         // which of the limits was the best
  double limit_seconds = 0;  // median
  Figure fraction_of_limit;  // limit's time ÷ plait's, round by round
  std::optional<Comparison> comparison;
  Goal gate;  // must hold; empty where ranks outnumber cores
  Goal aim;
  std::vector<std::pair<std::string, double>> costs;  // of results: plait's, the peer's, those of others
  std::vector<Samples> samples;  // plait's, the limits', the floor's, the peer's, then those of others
  friend bool operator==(const Record&, const Record&) = default;
};

/// Whether one of the samples is the floor: see `Job::floor`.
enum class Floor : unsigned char { none, given };

/// The figures of a case from its samples, in the order of `Record::samples`. The limit whose median is least counts,
/// or the floor if its median is larger than that.
///
/// \pre  limits >= 1 and samples.size() is 1 + limits, one more with a floor, and one more with a peer
[[nodiscard]] Record make_record(std::string name, std::vector<Samples> samples, std::size_t limits,
                                 Floor floor = Floor::none);

/// What several cases come to together: each sample is the geometric mean of theirs in one round, in as many rounds as
/// all of them have. The limits that count for them are taken, and the peers, if all of them have one.
///
/// \pre  there is one
[[nodiscard]] Record geometric_mean(std::string name, std::span<const Record> records);

/// How much of the limit's speed the peer comes to: limit's median ÷ peer's.
///
/// \pre  there is a peer
[[nodiscard]] double peer_fraction_of_limit(const Record& record);

/// plait's cost ÷ the least of all others.
///
/// \pre  there are two costs at least
[[nodiscard]] double cost_over_best(const Record& record);

/// What of a goal the record can show: without a peer, nothing over it.
[[nodiscard]] Goal measurable(const Record& record, Goal goal);

/// Whether the medians come to the goal.
///
/// \pre  goal == measurable(record, goal)
[[nodiscard]] bool meets(const Record& record, const Goal& goal);

}  // namespace plait::bench
