#include "plait/simd/store_choice.hpp"

#include <algorithm>
#include <cstddef>

namespace plait::simd {

namespace {

constexpr Index least_streamed = Index{8} << 10;  // below that the clock tells nothing
constexpr int rounds_from_trial_to_trial = 256;   // through all slots; cores change, and so does what they share
// What was streamed comes from memory when it is read: only a clear gain for the writer is one for both.
constexpr double clear_gain = 0.8;

}  // namespace

Stores StoreChoice::next(Index bytes) const noexcept {
  if (bytes < least_streamed) return Stores::cached;
  if (is_trial()) return chunk_ < 2 * slots_ ? Stores::cached : Stores::streaming;
  return seconds_per_byte_[1] < clear_gain * seconds_per_byte_[0] ? Stores::streaming : Stores::cached;
}

void StoreChoice::took(Index bytes, double seconds) noexcept {
  if (bytes < least_streamed) return;
  const int into_trial = chunk_ % (2 * slots_);
  if (is_trial() && into_trial >= slots_) {
    if (into_trial == slots_) tried_.clear();
    tried_.push_back(seconds / static_cast<double>(bytes));
    const auto middle = tried_.begin() + slots_ / 2;
    if (into_trial + 1 == 2 * slots_) {
      std::ranges::nth_element(tried_, middle);
      seconds_per_byte_[chunk_ < 2 * slots_ ? 0 : 1] = *middle;
    }
  }
  chunk_ = (chunk_ + 1) % (rounds_from_trial_to_trial * slots_);
}

}  // namespace plait::simd
