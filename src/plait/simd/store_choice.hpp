#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/simd/stores.hpp"

namespace plait::simd {

/// Chooses, by trying, how chunks are written that another core reads next. Where the two cores share a cache, ordinary
/// stores leave chunks there; where they do not, each such store first fetches the line back from the other core, and
/// streaming past the caches is up to three times as fast. Which is the case, only the clock tells.
class StoreChoice {
 public:
  /// \param slots  how many chunks pass before memory is written again: what the caches hold of it then depends on how
  ///               it was written before, so each way is tried for twice as many
  /// \pre  slots >= 1
  explicit StoreChoice(int slots) : slots_(slots) { tried_.reserve(static_cast<std::size_t>(slots)); }

  /// For the next chunk.
  [[nodiscard]] Stores next(Index bytes) const noexcept;
  /// What the chunk for which that was asked took.
  void took(Index bytes, double seconds) noexcept;

 private:
  [[nodiscard]] bool is_trial() const noexcept { return chunk_ < 4 * slots_; }

  int slots_;
  int chunk_ = 0;
  // Medians of the last trials, since another process may have had the core amid a chunk: ordinary, streaming.
  std::array<double, 2> seconds_per_byte_{};
  std::vector<double> tried_;
};

}  // namespace plait::simd
