#pragma once

namespace plait::simd {

/// Begins to fetch the cache line of an address, which may be nobody's, into the second-level cache, for what reads it
/// some kilobytes of work later. Into the first level, as hwy::Prefetch does, so much would come too early: on a Zen 4
/// a transposition took nearly three times as long then, and a sweep over a scaled matrix half as long again.
inline void prefetch(const void* address) {
#if defined(__x86_64__)
  // GCC 12 leaves out whole loops of the built-in function, which has no effect as far as it is concerned. An
  // operand in memory would be something that is read, so that whatever it might be is stored before.
  asm volatile("prefetcht1 (%0)" : : "r"(address));
#else
  constexpr int for_reading = 0;
  constexpr int second_level = 2;
  __builtin_prefetch(address, for_reading, second_level);
#endif
}

}  // namespace plait::simd
