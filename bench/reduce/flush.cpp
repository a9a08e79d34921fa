#include "bench/reduce/flush.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace plait::bench {

namespace {

constexpr std::size_t flushed_bytes = 64;

}  // namespace

void flush_from_caches(std::span<const std::byte> memory) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < memory.size(); i += flushed_bytes) _mm_clflush(&memory[i]);
  _mm_mfence();
#elif defined(__aarch64__)
  for (std::size_t i = 0; i < memory.size(); i += flushed_bytes)
    asm volatile("dc civac, %0" ::"r"(&memory[i]) : "memory");
  asm volatile("dsb sy" ::: "memory");
#else
  static_cast<void>(memory);
#endif
}

void fetch_into_caches(std::span<const std::byte> memory) {
  const volatile std::byte* const bytes = memory.data();
  for (std::size_t i = 0; i < memory.size(); i += flushed_bytes) static_cast<void>(bytes[i]);
}

}  // namespace plait::bench
