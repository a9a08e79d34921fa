#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace plait::simd {

/// While it lives, the calling thread computes in vectors as IEEE 754 has it by default: rounds to nearest, takes and
/// gives subnormal numbers as they are, and does not trap. Programs change that: those built with -ffast-math, or with
/// a compiler that does so by itself, flush subnormal numbers to zero; others look for errors by traps.
///
/// The compiler does not know that arithmetic depends on this: what is to be computed so stands in a function that is
/// not inlined.
class DefaultArithmetic {
 public:
  DefaultArithmetic() noexcept : before_(read()) {
    if (changes()) write(default_of(before_));
  }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;
  ~DefaultArithmetic() {
    if (changes()) write(before_);
  }

 private:
  [[nodiscard]] bool changes() const noexcept { return default_of(before_) != before_; }

#if defined(__x86_64__)
  static std::uint64_t read() noexcept { return _mm_getcsr(); }
  static void write(std::uint64_t state) noexcept { _mm_setcsr(static_cast<unsigned>(state)); }
  static constexpr std::uint64_t default_of(std::uint64_t state) noexcept {
    constexpr std::uint64_t flush_and_rounding = 0xe040;
    constexpr std::uint64_t no_traps = 0x1f80;
    return (state & ~flush_and_rounding) | no_traps;
  }
#elif defined(__aarch64__)
  static std::uint64_t read() noexcept {
    std::uint64_t state = 0;
    asm volatile("mrs %0, fpcr" : "=r"(state));
    return state;
  }
  static void write(std::uint64_t state) noexcept { asm volatile("msr fpcr, %0" : : "r"(state) : "memory"); }
  static constexpr std::uint64_t default_of(std::uint64_t state) noexcept {
    constexpr std::uint64_t flush_rounding_and_traps = 0x3c89f00;  // also: every NaN the default one
    return state & ~flush_rounding_and_traps;
  }
#else
  static std::uint64_t read() noexcept { return 0; }
  static void write(std::uint64_t /*state*/) noexcept {}
  static constexpr std::uint64_t default_of(std::uint64_t state) noexcept { return state; }
#endif

  std::uint64_t before_;
};

}  // namespace plait::simd
