#include "plait/simd/isa.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"

// clang-format off: the choice of targets comes before Highway
#include "plait/simd/targets.hpp"
#include <hwy/targets.h>
// clang-format on

namespace plait::simd {

namespace {

constexpr std::int64_t highway_target(Isa isa) {
  switch (isa) {
    case Isa::scalar: break;
    case Isa::ssse3: return HWY_SSSE3;
    case Isa::sse4: return HWY_SSE4;
    case Isa::avx2: return HWY_AVX2;
    case Isa::avx512: return HWY_AVX3;
    case Isa::neon: return HWY_NEON;
    case Isa::sve: return HWY_SVE;
    case Isa::sve2: return HWY_SVE2;
  }
  return 0;
}

constexpr bool is_of_this_architecture(Isa isa) {
  switch (isa) {
    case Isa::scalar: return true;
    case Isa::ssse3:
    case Isa::sse4:
    case Isa::avx2:
    case Isa::avx512: return HWY_ARCH_X86;
    case Isa::neon:
    case Isa::sve:
    case Isa::sve2: return HWY_ARCH_ARM;
  }
  return false;
}

class SupportedIsas {
 public:
  SupportedIsas() {
    const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    for (std::size_t i = isas.size(); i-- > 0;) {
      const Isa isa = isas[i];
      if (isa == Isa::scalar || (targets & highway_target(isa)) != 0) isas_[count_++] = isa;
    }
  }

  [[nodiscard]] std::span<const Isa> span() const { return {isas_.data(), count_}; }

 private:
  std::array<Isa, isas.size()> isas_{};
  std::size_t count_ = 0;
};

std::string names_where(bool (*wanted)(Isa)) {
  std::string names;
  for (const Isa isa : isas) {
    if (wanted(isa)) names += (names.empty() ? "" : ", ") + std::string(name(isa));
  }
  return names;
}

Isa selection() {
  const char* setting = std::getenv("PLAIT_ISA");
  if (setting == nullptr || *setting == '\0') return best_isa();
  try {
    return best_isa_within(parse_isa(setting));
  } catch (const ArgumentError& error) {
    throw ArgumentError(fmt::format("environment variable PLAIT_ISA: {}", error.what()));
  }
}

}  // namespace

Isa parse_isa(std::string_view name) {
  const auto found = std::ranges::find(isas, name, [](Isa isa) { return simd::name(isa); });
  if (found != isas.end()) return *found;
  throw ArgumentError(
      fmt::format("instruction set \"{}\": expected one of {}", name, names_where([](Isa) { return true; })));
}

std::span<const Isa> supported_isas() {
  static const SupportedIsas supported;  // asking the processor takes microseconds under a hypervisor
  return supported.span();
}

bool is_supported(Isa isa) {
  const auto supported = supported_isas();
  return std::ranges::find(supported, isa) != supported.end();
}

Isa best_isa() { return supported_isas().front(); }

Isa best_isa_within(Isa cap) {
  if (!is_of_this_architecture(cap)) {
    throw ArgumentError(
        fmt::format("instruction set \"{}\" belongs to another processor architecture: expected one of {}", name(cap),
                    names_where(is_of_this_architecture)));
  }
  const auto supported = supported_isas();
  return *std::ranges::find_if(supported, [cap](Isa isa) { return isa <= cap; });
}

Isa selected_isa() {
  static const Isa selected = selection();
  return selected;
}

}  // namespace plait::simd
