#include "bench/sinkhorn/streaming_read.hpp"

#include <cstdint>
#include <cstring>

namespace plait::bench {

namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PLAIT_BENCH_CLONES __attribute__((target_clones("arch=skylake-avx512", "avx2", "default"), noinline))
#else
#define PLAIT_BENCH_CLONES
#endif

constexpr std::size_t words_a_step = 64;

PLAIT_BENCH_CLONES std::uint64_t combined(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sums[words_a_step] = {};
  std::size_t i = 0;
  for (; i + words_a_step <= count; i += words_a_step) {
    for (std::size_t k = 0; k < words_a_step; ++k) sums[k] ^= words[i + k];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : sums) sum ^= each;
  for (; i < count; ++i) sum ^= words[i];
  return sum;
}

}  // namespace

Contender streaming_read(std::span<const std::byte> memory) {
  return {"streaming read", [memory] {
            const auto* words = reinterpret_cast<const std::uint64_t*>(memory.data());
            volatile std::uint64_t kept = combined(words, memory.size() / sizeof *words);
            static_cast<void>(kept);
          }};
}

}  // namespace plait::bench
