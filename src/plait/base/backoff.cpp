#include "plait/base/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace plait {

namespace {

constexpr int spins = 64;   // polls in a row: some ten microseconds, about the latency of a network
constexpr int yields = 64;  // then offers of the core, which cost nothing where there is nobody to take it
constexpr std::chrono::microseconds first_sleep{10};

}  // namespace

void Backoff::idle() noexcept {
  ++idle_polls_;
  if (idle_polls_ <= spins) return;
  if (idle_polls_ <= spins + yields) {
    sched_yield();
    return;
  }
  const int doublings = std::min((idle_polls_ - spins - yields) / 16, 5);
  std::this_thread::sleep_for(std::min(first_sleep * (1 << doublings), longest_sleep));
}

}  // namespace plait
