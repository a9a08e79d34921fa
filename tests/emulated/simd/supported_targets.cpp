#include <sys/auxv.h>

#include <cstdint>

#include <hwy/targets.h>

namespace hwy {

/// The part of Highway that is compiled: there is none for this architecture on the machine that compiles the test.
int64_t SupportedTargets() {
  constexpr unsigned long sve = 1UL << 22;  // in AT_HWCAP
  constexpr unsigned long sve2 = 1UL << 1;  // in AT_HWCAP2
  int64_t targets = HWY_NEON;
  if ((getauxval(AT_HWCAP) & sve) != 0) targets |= HWY_SVE;
  if ((getauxval(AT_HWCAP2) & sve2) != 0) targets |= HWY_SVE2;
  return targets;
}

}  // namespace hwy
