// Comparisons under a mask, once for each target: included after Highway by a file that `foreach_target.h` includes.
// The guard follows Highway's.
#if defined(PLAIT_SIMD_COMPARE_WHERE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_COMPARE_WHERE_INL
#undef PLAIT_SIMD_COMPARE_WHERE_INL
#else
#define PLAIT_SIMD_COMPARE_WHERE_INL
#endif

#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "plait/simd/targets.hpp"

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Whether masks are registers of their own, few instructions on which are executed at a time.
constexpr bool has_mask_registers = HWY_TARGET == HWY_AVX3;

/// `where` and a < b. AVX-512 compares under a mask at no cost, while an operation on two masks takes the place of a
/// comparison.
template <class D, class M, class V>
HWY_INLINE M less_where(D d, M where, V a, V b) {
#if HWY_TARGET == HWY_AVX3
  using L = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) * sizeof(L) == 64) {
    if constexpr (std::is_same_v<L, float>) return M{_mm512_mask_cmp_ps_mask(where.raw, a.raw, b.raw, _CMP_LT_OQ)};
    if constexpr (std::is_same_v<L, double>) return M{_mm512_mask_cmp_pd_mask(where.raw, a.raw, b.raw, _CMP_LT_OQ)};
    if constexpr (std::is_same_v<L, std::int16_t>) return M{_mm512_mask_cmplt_epi16_mask(where.raw, a.raw, b.raw)};
    if constexpr (std::is_same_v<L, std::int32_t>) return M{_mm512_mask_cmplt_epi32_mask(where.raw, a.raw, b.raw)};
    if constexpr (std::is_same_v<L, std::int64_t>) return M{_mm512_mask_cmplt_epi64_mask(where.raw, a.raw, b.raw)};
  }
#endif
  static_cast<void>(d);
  return hn::And(where, hn::Lt(a, b));
}

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
