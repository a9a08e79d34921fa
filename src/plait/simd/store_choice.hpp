#pragma once

#include <array>
#include <limits>

#include "plait/base/index.hpp"
#include "plait/simd/stores.hpp"

namespace plait::simd {

/// Chooses, by the clock, how chunks are written that another core reads next. Where the two cores share a cache,
/// ordinary stores leave chunks there; where they do not, each such store first fetches the line back from the other
/// core, and streaming past the caches is two to four times as fast. As processes move between cores, that may change
/// at any time. Ordinary stores can lose much and gain little, so they have to prove themselves, again and again: they
/// may take the writer longer by what the reader saves who finds chunks in a cache.
class StoreChoice {
 public:
  /// \param memory  in bytes, how much passes before memory is written again: until then the other core has not read
  ///                any, and the clock tells nothing
  /// \pre  memory >= 0
  explicit StoreChoice(Index memory) : unused_(memory), chunk_(before_trial - recent) {}

  /// For the next chunk.
  [[nodiscard]] Stores next(Index bytes) const noexcept;
  /// What the chunk for which that was asked took.
  void took(Index bytes, double seconds) noexcept;

 private:
  static constexpr int before_trial = 256;  // of the other way
  static constexpr int trial = 2;
  static constexpr int recent = 3;

  [[nodiscard]] bool is_trial() const noexcept { return chunk_ >= before_trial; }
  void took_now(double seconds_per_byte) noexcept;
  void took_on_trial(double seconds_per_byte) noexcept;

  Stores now_ = Stores::streaming;
  Index unused_;  // bytes of the memory that have not been written yet
  int chunk_;     // since the last trial
  // Of each way, the typical one of the last chunks or the better one of the last trial: another process may have had
  // the core amid a chunk.
  double streaming_ = std::numeric_limits<double>::infinity();
  double cached_ = std::numeric_limits<double>::infinity();
  std::array<double, recent> last_{};
  int lasting_ = 0;  // how many of these there are
};

}  // namespace plait::simd
