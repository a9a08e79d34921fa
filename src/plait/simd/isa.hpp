#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace plait::simd {

/// The instruction sets that kernels are compiled for; within an architecture, later ones are better.
///
/// `avx2` stands for Haswell and later (with FMA and BMI2), `avx512` for Skylake-X and later (F, BW, CD, DQ, VL).
enum class Isa : unsigned char { scalar, ssse3, sse4, avx2, avx512, neon, sve, sve2 };

inline constexpr std::array<Isa, 8> isas{Isa::scalar, Isa::ssse3, Isa::sse4, Isa::avx2,
                                         Isa::avx512, Isa::neon,  Isa::sve,  Isa::sve2};

[[nodiscard]] constexpr std::string_view name(Isa isa) noexcept {
  constexpr std::array<std::string_view, isas.size()> names{"scalar", "ssse3", "sse4", "avx2",
                                                            "avx512", "neon",  "sve",  "sve2"};
  return names[static_cast<std::size_t>(isa)];
}

/// The instruction set of this name, whether this machine has it or not.
///
/// \throws ArgumentError  names what is allowed
[[nodiscard]] Isa parse_isa(std::string_view name);

/// What plait was compiled for and both the processor and the operating system support, best first; the last one is
/// always `scalar`.
[[nodiscard]] std::span<const Isa> supported_isas();

[[nodiscard]] bool is_supported(Isa isa);

[[nodiscard]] Isa best_isa();

/// The best supported instruction set that is no better than `cap`. It need not be `cap` itself: a cap that this
/// processor does not reach caps nothing.
///
/// \throws ArgumentError  `cap` belongs to another processor architecture
[[nodiscard]] Isa best_isa_within(Isa cap);

/// The best instruction set under the cap of the environment variable PLAIT_ISA, such as PLAIT_ISA=avx2; without it, or
/// where it is empty, the best of all. The variable is read once, by the first call that finds it valid.
///
/// Any thread may call.
///
/// \throws ArgumentError  PLAIT_ISA is no instruction set, or one of another processor architecture
[[nodiscard]] Isa selected_isa();

}  // namespace plait::simd
