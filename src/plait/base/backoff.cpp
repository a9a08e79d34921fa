#include "plait/base/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace plait {

namespace {

constexpr int spins = 64;   // polls in a row: some ten microseconds, about the latency of a network
constexpr int yields = 64;  // then offers of the core, which cost nothing where there is nobody to take it
constexpr int polls_a_doubling = 16;
constexpr int doublings = 5;  // of the first sleep
constexpr std::chrono::microseconds first_sleep{10};

}  // namespace

void Backoff::idle() noexcept {
  idle_polls_ = std::min(idle_polls_ + 1, spins + yields + polls_a_doubling * doublings);
  if (idle_polls_ <= spins) return;
  if (idle_polls_ <= spins + yields) {
    sched_yield();
    return;
  }
  const int doubled = (idle_polls_ - spins - yields) / polls_a_doubling;
  std::this_thread::sleep_for(std::min(first_sleep * (1 << doubled), longest_sleep));
}

}  // namespace plait
