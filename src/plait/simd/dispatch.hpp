#pragma once

#include <array>
#include <cstddef>

#include "plait/base/contract.hpp"
#include "plait/simd/isa.hpp"

namespace plait::simd {

/// One kernel as compiled for each instruction set. A file of kernels fills a table of its own with one of the macros
/// below, after the last round of Highway's `foreach_target.h`; Highway's choice of a target, which is one for the
/// whole process, is not consulted.
template <class Function>
class KernelTable {
 public:
  constexpr explicit KernelTable(std::array<Function*, isas.size()> compiled) : kernels_(compiled) {}

  /// Where there is no entry, that of the next lower instruction set: its processors have that too. The scalar entry is
  /// always there.
  [[nodiscard]] Function& operator[](Isa isa) const {
    PLAIT_ASSERT(is_supported(isa), "kernels run on an instruction set that this machine has");
    auto i = static_cast<std::size_t>(isa);
    while (kernels_[i] == nullptr) --i;
    return *kernels_[i];
  }

 private:
  std::array<Function*, isas.size()> kernels_;
};

}  // namespace plait::simd

/// The entries of a `KernelTable`, in the order of `Isa`, for a `kernel` in each target's namespace.
#define PLAIT_SIMD_KERNELS(reference, kernel) \
  {                                           \
      reference,                              \
      HWY_CHOOSE_SSSE3(kernel),               \
      HWY_CHOOSE_SSE4(kernel),                \
      HWY_CHOOSE_AVX2(kernel),                \
      HWY_CHOOSE_AVX3(kernel),                \
      HWY_CHOOSE_NEON(kernel),                \
      HWY_CHOOSE_SVE(kernel),                 \
      HWY_CHOOSE_SVE2(kernel),                \
  }

/// The same for a kernel that needs vectors of fixed length.
#define PLAIT_SIMD_FIXED_LENGTH_KERNELS(reference, kernel) \
  {                                                        \
      reference,                                           \
      HWY_CHOOSE_SSSE3(kernel),                            \
      HWY_CHOOSE_SSE4(kernel),                             \
      HWY_CHOOSE_AVX2(kernel),                             \
      HWY_CHOOSE_AVX3(kernel),                             \
      HWY_CHOOSE_NEON(kernel),                             \
      nullptr,                                             \
      nullptr,                                             \
  }
