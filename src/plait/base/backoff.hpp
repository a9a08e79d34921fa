#pragma once

#include <chrono>

namespace plait {

/// How a rank waits for something that it has to poll for: it spins first, then gives its core to others, then sleeps
/// longer and longer up to a bound. So latency stays at a poll while the answer is near, and more ranks than cores do
/// not starve each other. Where each rank has a core, it sleeps after some milliseconds only, as waking up takes longer
/// than most waits. The one policy of the whole library.
class Backoff {
 public:
  /// Call after a poll that found nothing.
  void idle() noexcept;

  /// Call after a poll that found something: the next wait begins with spinning again.
  void reset() noexcept { idle_polls_ = 0; }

  /// Tells this process that there are as many cores as ranks of its node, or that there are fewer; that holds for
  /// good.
  static void share_cores(bool fewer_than_ranks) noexcept;

  /// The longest that one `idle()` takes, apart from what the operating system adds.
  static constexpr std::chrono::microseconds longest_sleep{200};

 private:
  int idle_polls_ = 0;
};

}  // namespace plait
