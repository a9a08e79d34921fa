#include "plait/base/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace plait {

namespace {

constexpr int spins = 64;   // polls in a row: some ten microseconds, about the latency of a network
constexpr int yields = 64;  // then offers of the core, which cost nothing where there is nobody to take it
constexpr int yields_of_own_core = 4096;
constexpr int polls_a_doubling = 16;
constexpr int doublings = 5;  // of the first sleep
constexpr std::chrono::microseconds first_sleep{10};

// What is known of this process' node: nothing at first, and once there were fewer cores than ranks, that.
enum class Cores : unsigned char { unknown, for_each_rank, fewer_than_ranks };
std::atomic<Cores> cores{Cores::unknown};

}  // namespace

void Backoff::share_cores(bool fewer_than_ranks) noexcept {
  Cores before = Cores::unknown;
  if (fewer_than_ranks) {
    cores = Cores::fewer_than_ranks;
  } else {
    cores.compare_exchange_strong(before, Cores::for_each_rank);
  }
}

void Backoff::idle() noexcept {
  const int awake =
      spins + (cores.load(std::memory_order_relaxed) == Cores::for_each_rank ? yields_of_own_core : yields);
  idle_polls_ = std::min(idle_polls_ + 1, awake + polls_a_doubling * doublings);
  if (idle_polls_ <= spins) return;
  if (idle_polls_ <= awake) {
    sched_yield();
    return;
  }
  const int doubled = (idle_polls_ - awake) / polls_a_doubling;
  std::this_thread::sleep_for(std::min(first_sleep * (1 << doubled), longest_sleep));
}

}  // namespace plait
