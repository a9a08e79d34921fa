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

using Word = std::uint64_t;
constexpr std::size_t words_a_step = 64;
constexpr std::size_t line_words = 8;

/// \param parts  of the memory that are read side by side
/// \param ahead  how many words ahead lines are fetched; 0: none
template <std::size_t parts, std::size_t ahead>
[[gnu::always_inline]] inline Word combined(const Word* words, std::size_t count) {
  constexpr std::size_t step = words_a_step / parts;
  const std::size_t of_part = count / parts / step * step;
  Word sums[words_a_step] = {};
  for (std::size_t i = 0; i < of_part; i += step) {
    for (std::size_t part = 0; part < parts; ++part) {
      const Word* from = words + part * of_part + i;
      for (std::size_t k = 0; k < step && ahead > 0; k += line_words) __builtin_prefetch(from + ahead + k);
      for (std::size_t k = 0; k < step; ++k) sums[part * step + k] ^= from[k];
    }
  }
  Word sum = 0;
  for (const Word each : sums) sum ^= each;
  for (std::size_t i = parts * of_part; i < count; ++i) sum ^= words[i];
  return sum;
}

PLAIT_BENCH_CLONES Word plain(const Word* words, std::size_t count) { return combined<1, 0>(words, count); }
PLAIT_BENCH_CLONES Word fetched(const Word* words, std::size_t count) { return combined<1, 512>(words, count); }
PLAIT_BENCH_CLONES Word of_parts(const Word* words, std::size_t count) { return combined<4, 0>(words, count); }

Contender reading(const char* name, std::span<const std::byte> memory, Word (*read)(const Word*, std::size_t)) {
  return {name, [memory, read] {
            volatile Word kept = read(reinterpret_cast<const Word*>(memory.data()), memory.size() / sizeof(Word));
            static_cast<void>(kept);
          }};
}

}  // namespace

Contender streaming_read(std::span<const std::byte> memory) { return reading("streaming read", memory, plain); }

std::vector<Contender> streaming_reads(std::span<const std::byte> memory) {
  return {streaming_read(memory), reading("streaming read, fetched ahead", memory, fetched),
          reading("streaming read of four parts", memory, of_parts)};
}

}  // namespace plait::bench
