// Sums whose rounding errors are kept, once for each target: included after Highway by a file that `foreach_target.h`
// includes. The guard follows Highway's.
#if defined(PLAIT_SIMD_TWO_SUM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_TWO_SUM_INL
#undef PLAIT_SIMD_TWO_SUM_INL
#else
#define PLAIT_SIMD_TWO_SUM_INL
#endif

#include <hwy/highway.h>

#include "plait/simd/targets.hpp"

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The rounded sum, and what rounding took away: a + b = sum + error, exactly, unless the sum is infinite or NaN, with
/// which the error is NaN. An error of 0 is +0.
///
/// Source: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B.
template <class V>
HWY_INLINE V two_sum(V a, V b, V& error) {
  const V sum = hn::Add(a, b);
  const V b_taken = hn::Sub(sum, a);
  const V a_taken = hn::Sub(sum, b_taken);
  error = hn::Add(hn::Sub(a, a_taken), hn::Sub(b, b_taken));
  return sum;
}

/// Adds x to a sum, the error of that to `errors`, and keeps the bits of what that loses: sum + errors is exact in the
/// lanes where `lost` is 0.
template <class V>
HWY_INLINE void add(V x, V& sum, V& errors, V& lost) {
  V error;
  V error_of_errors;
  sum = two_sum(sum, x, error);
  errors = two_sum(errors, error, error_of_errors);
  lost = hn::Or(lost, error_of_errors);
}

/// A real number from memory, as a double where D has lanes of doubles.
template <class T, class D>
HWY_INLINE hn::VFromD<D> load_real(D d, const T* from) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, from);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
  }
}

/// The way back, rounded to nearest.
template <class T, class D>
HWY_INLINE void store_real(D d, hn::VFromD<D> v, T* to) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Rebind<T, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, v), narrow, to);
  }
}

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
