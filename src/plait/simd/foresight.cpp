#include "plait/simd/foresight.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace plait::simd {

bool foresees_rows() {
#if defined(__x86_64__)
  static const bool is_zen5 = [] {
    constexpr unsigned amd = 0x68747541;  // "Auth"
    constexpr unsigned zen5 = 0x1a;       // its family; later ones are higher
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0 || ebx != amd) return false;
    __get_cpuid(1, &eax, &ebx, &ecx, &edx);
    return (eax >> 8 & 0xf) + (eax >> 20 & 0xff) >= zen5;
  }();
  return is_zen5;
#else
  return false;
#endif
}

}  // namespace plait::simd
