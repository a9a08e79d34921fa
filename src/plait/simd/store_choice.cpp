#include "plait/simd/store_choice.hpp"

#include <algorithm>

namespace plait::simd {

namespace {

constexpr Index least_streamed = Index{8} << 10;  // below that the clock tells nothing
// More than what is worth a cache by so much is no accident.
constexpr double clearly_more = 1.25;

}  // namespace

Stores StoreChoice::next(Index bytes) const noexcept {
  if (bytes < least_streamed) return Stores::cached;
  if (!is_trial()) return now_;
  return now_ == Stores::cached ? Stores::streaming : Stores::cached;
}

void StoreChoice::took(Index bytes, double seconds) noexcept {
  if (bytes < least_streamed) return;
  const double seconds_per_byte = seconds / static_cast<double>(bytes);
  is_trial() ? took_on_trial(seconds_per_byte) : took_now(seconds_per_byte);
}

void StoreChoice::took_now(double seconds_per_byte) noexcept {
  ++chunk_;
  last_[static_cast<std::size_t>(lasting_++ % recent)] = seconds_per_byte;
  if (lasting_ < recent) return;
  std::array<double, recent> sorted = last_;
  std::ranges::sort(sorted);
  (now_ == Stores::cached ? cached_ : streaming_) = sorted[recent / 2];
  if (now_ == Stores::cached && cached_ > clearly_more * worth_a_cache_ * streaming_) {
    now_ = Stores::streaming;
    lasting_ = 0;
  }
}

void StoreChoice::took_on_trial(double seconds_per_byte) noexcept {
  double& other = now_ == Stores::cached ? streaming_ : cached_;
  other = chunk_ == before_trial ? seconds_per_byte : std::min(other, seconds_per_byte);
  if (++chunk_ < before_trial + trial) return;
  chunk_ = 0;
  lasting_ = 0;
  if (now_ == Stores::streaming && cached_ <= worth_a_cache_ * streaming_) now_ = Stores::cached;
}

}  // namespace plait::simd
