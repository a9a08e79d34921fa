#include "plait/simd/store_choice.hpp"

#include <algorithm>

namespace plait::simd {

namespace {

constexpr Index least_streamed = Index{8} << 10;  // below that the clock tells nothing
// What the reader saves is a pass of reading memory at most. Who streams reads memory and writes it: half of what that
// takes.
constexpr double worth_of_cache = 0.5;  // of the time of streaming
// More than that by so much is no accident.
constexpr double clearly_more = 1.25;

}  // namespace

Stores StoreChoice::next(Index bytes) const noexcept {
  if (bytes < least_streamed) return Stores::cached;
  if (!is_trial()) return now_;
  return now_ == Stores::cached ? Stores::streaming : Stores::cached;
}

void StoreChoice::took(Index bytes, double seconds) noexcept {
  if (bytes < least_streamed) return;
  if (unused_ > 0) {
    unused_ -= bytes;
    return;
  }
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
  if (now_ == Stores::cached && cached_ > (1 + clearly_more * worth_of_cache) * streaming_) {
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
  if (now_ == Stores::streaming && cached_ <= (1 + worth_of_cache) * streaming_) now_ = Stores::cached;
}

}  // namespace plait::simd
