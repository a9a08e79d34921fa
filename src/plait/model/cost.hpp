#pragma once

#include <algorithm>

namespace plait::model {

/// What moving one strand through an operation costs.
///
/// Strands follow each other as fast as the busiest resource of a rank lets them, so that the waiting of one hides
/// behind the work of others: the overlap of the literature.
struct Cost {
  double first_seconds = 0;    // from its beginning to its end, where nothing else is under way
  double network_seconds = 0;  // of it, the busiest rank's link to other nodes is occupied
  double core_seconds = 0;     // likewise its core: by combining, and by messages within the node

  /// One operation after the other, each strand by itself.
  Cost& operator+=(const Cost& other) noexcept {
    first_seconds += other.first_seconds;
    network_seconds += other.network_seconds;
    core_seconds += other.core_seconds;
    return *this;
  }
  friend Cost operator+(Cost left, const Cost& right) noexcept { return left += right; }
};

/// The time of `strands` strands of that cost, all under way together.
/// \pre  strands >= 1
[[nodiscard]] inline double seconds(const Cost& strand, int strands) noexcept {
  return strand.first_seconds + (strands - 1) * std::max(strand.network_seconds, strand.core_seconds);
}

}  // namespace plait::model
