// The loops that all vector kernels of reductions share, once for each target: included after Highway by a file that
// `foreach_target.h` includes. The guard follows Highway's.
#if defined(PLAIT_SIMD_REDUCE_LOOP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLAIT_SIMD_REDUCE_LOOP_INL
#undef PLAIT_SIMD_REDUCE_LOOP_INL
#else
#define PLAIT_SIMD_REDUCE_LOOP_INL
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "plait/simd/reduce/reduce_kernels.hpp"
#include "plait/simd/stores.hpp"
#include "plait/simd/targets.hpp"

#if PLAIT_SIMD_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// An `Op` is a stateless type with
//   static V of(D d, V a, V b)       a op b in each lane; it must bear zeros in lanes that nobody asked for
//   static constexpr Index at_once   1, or 2 where it works on pairs of neighbours
//   static void of_two(D d, V a0, V a1, V b0, V b1, V& out0, V& out1)   if two vectors at a time are better
//   static constexpr int vector_length = -1   where it wants vectors of half the length
//   static constexpr bool uses_operands_again = true   where it uses either of a and b more than once
// L is the type of a lane, whatever the elements are: those of several lanes count as many.

template <class Op, class L>
constexpr auto longest_vector() {
  if constexpr (requires { Op::vector_length; }) {
    return hn::ScalableTag<L, Op::vector_length>();
  } else {
    return hn::ScalableTag<L>();
  }
}
template <class Op, class L>
using LongestVector = decltype(longest_vector<Op, L>());

/// A vector from or to any place. The processors' instructions for a single lane are declared for aligned ones.
template <class D, class L>
HWY_INLINE hn::VFromD<D> load(D d, const L* from) {
#if !HWY_HAVE_SCALABLE
  if constexpr (hn::MaxLanes(D()) == 1) {
    L lane;
    std::memcpy(&lane, from, sizeof lane);
    return hn::Set(d, lane);
  }
#endif
  return hn::LoadU(d, from);
}

template <class D, class L>
HWY_INLINE void store(D d, hn::VFromD<D> vector, L* to) {
#if !HWY_HAVE_SCALABLE
  if constexpr (hn::MaxLanes(D()) == 1) {
    const L lane = hn::GetLane(vector);
    std::memcpy(to, &lane, sizeof lane);
    return;
  }
#endif
  hn::StoreU(vector, d, to);
}

/// Hides from the compiler where a vector is from.
template <class V>
HWY_INLINE void forget_source(V& vector) {
#if HWY_TARGET == HWY_AVX3
  asm("" : "+v"(vector.raw));
#elif HWY_ARCH_X86
  asm("" : "+x"(vector.raw));
#else
  static_cast<void>(vector);
#endif
}

/// An operand from any place. Where an operation uses it more than once, g++ would load it again for each use, did it
/// know that memory holds it still; clang 19 takes the lanes of a vector of 8 bytes that were shuffled for those in
/// memory.
template <class Op, class D, class L>
HWY_INLINE hn::VFromD<D> operand(D d, const L* from) {
  hn::VFromD<D> vector = load(d, from);
#if !HWY_HAVE_SCALABLE
  if constexpr (requires { Op::uses_operands_again; }) {
    if constexpr (HWY_COMPILER_GCC_ACTUAL || hn::MaxLanes(D()) * sizeof(L) == 8) forget_source(vector);
  }
#endif
  return vector;
}

template <class Op, class D, class L>
HWY_INLINE hn::VFromD<D> combined(D d, const L* a, const L* b) {
  return Op::of(d, operand<Op>(d, a), operand<Op>(d, b));
}

/// Two vectors, the second one `distance` lanes after the first.
template <class Op, class D, class L, class V>
HWY_INLINE void combine_two(D d, Index distance, const L* a, const L* b, V& first, V& second) {
  const L* next_a = a + distance;
  const L* next_b = b + distance;
  if constexpr (requires { Op::of_two(d, first, first, first, first, first, second); }) {
    Op::of_two(d, operand<Op>(d, a), operand<Op>(d, next_a), operand<Op>(d, b), operand<Op>(d, next_b), first, second);
  } else {
    first = combined<Op>(d, a, b);
    second = combined<Op>(d, next_a, next_b);
  }
}

template <bool streaming, class D, class L>
HWY_INLINE void store_aligned(D d, hn::VFromD<D> vector, L* out) {
  if constexpr (streaming) {
    hn::Stream(vector, d, out);
  } else {
    hn::StoreU(vector, d, out);  // there may be no lane that is aligned
  }
}

/// How many lanes there are from `out` to the next whole vector, no more than it has; a guess if lanes are not aligned.
template <class Op, class D, class L>
HWY_INLINE Index lanes_to_alignment(D d, const L* out) {
  const std::size_t vector_bytes = hn::Lanes(d) * sizeof(L);
  const std::size_t left = vector_bytes - reinterpret_cast<std::uintptr_t>(out) % vector_bytes;
  constexpr std::size_t group = Op::at_once;
  return static_cast<Index>(left / (group * sizeof(L)) * group);
}

/// A vector or more. The first and the last vector are computed before anything is written, since `out` may be `a` or
/// `b`, and written at the end; those in between are stored at aligned places, as far as they overlap with these twice.
template <class Op, bool streaming, class D, class L>
HWY_INLINE void combine_many(D d, Index n, const L* a, const L* b, L* out) {
  const auto step = static_cast<Index>(hn::Lanes(d));
  const Index last = n - step;
  hn::VFromD<D> first_vector, last_vector;
  combine_two<Op>(d, last, a, b, first_vector, last_vector);
  Index i = lanes_to_alignment<Op>(d, out);
  for (; i + 3 * step < last; i += 4 * step) {
    hn::VFromD<D> v0, v1, v2, v3;
    combine_two<Op>(d, step, a + i, b + i, v0, v1);
    combine_two<Op>(d, step, a + i + 2 * step, b + i + 2 * step, v2, v3);
    store_aligned<streaming>(d, v0, out + i);
    store_aligned<streaming>(d, v1, out + i + step);
    store_aligned<streaming>(d, v2, out + i + 2 * step);
    store_aligned<streaming>(d, v3, out + i + 3 * step);
  }
  for (; i < last; i += step) hn::StoreU(combined<Op>(d, a + i, b + i), d, out + i);
  hn::StoreU(first_vector, d, out);
  hn::StoreU(last_vector, d, out + last);
}

#if HWY_HAVE_SCALABLE
/// A vector or less.
template <class Op, class D, class L>
HWY_INLINE void combine_few(D d, Index n, const L* a, const L* b, L* out) {
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(n));
  hn::BlendedStore(Op::of(d, hn::MaskedLoad(mask, d, a), hn::MaskedLoad(mask, d, b)), mask, d, out);
}
#else
/// Two to four vectors, as four that overlap.
template <class Op, class D, class L>
HWY_INLINE void combine_four(D d, Index n, const L* a, const L* b, L* out) {
  const auto step = static_cast<Index>(hn::Lanes(d));
  const Index last_two = n - 2 * step;
  hn::VFromD<D> v0, v1, v2, v3;
  combine_two<Op>(d, step, a, b, v0, v1);
  combine_two<Op>(d, step, a + last_two, b + last_two, v2, v3);
  hn::StoreU(v0, d, out);
  hn::StoreU(v1, d, out + step);
  hn::StoreU(v2, d, out + last_two);
  hn::StoreU(v3, d, out + last_two + step);
}

/// Two vectors or less, as one, or two that overlap, of the whole length, half of it, a quarter...
template <class Op, class D, class L>
HWY_INLINE void combine_few(D d, Index n, const L* a, const L* b, L* out) {
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));
  if (n == lanes) {
    store(d, combined<Op>(d, a, b), out);
  } else if (n > lanes) {
    const Index last = n - lanes;
    hn::VFromD<D> first_vector, last_vector;
    combine_two<Op>(d, last, a, b, first_vector, last_vector);
    store(d, first_vector, out);
    store(d, last_vector, out + last);
  } else if constexpr (lanes > Op::at_once) {
    combine_few<Op>(hn::Half<D>(), n, a, b, out);
  } else if constexpr (lanes > 1) {
    const hn::Half<D> one;
    if (n == 0) return;
    const auto vector = Op::of(d, hn::ZeroExtendVector(d, load(one, a)), hn::ZeroExtendVector(d, load(one, b)));
    store(one, hn::LowerHalf(one, vector), out);
  }
}
#endif

template <class Op, class L>
HWY_NOINLINE void combine_lanes(Index n, const L* a, const L* b, L* out) {
  const LongestVector<Op, L> d;
  const auto step = static_cast<Index>(hn::Lanes(d));
#if HWY_HAVE_SCALABLE
  if (n > step) return combine_many<Op, false>(d, n, a, b, out);
#else
  if (n > 4 * step) return combine_many<Op, false>(d, n, a, b, out);
  if (n > 2 * step) return combine_four<Op>(d, n, a, b, out);
#endif
  combine_few<Op>(d, n, a, b, out);
}

template <class Op, class L>
HWY_NOINLINE void stream_lanes(Index n, const L* a, const L* b, L* out) {
  combine_many<Op, true>(LongestVector<Op, L>(), n, a, b, out);
  hwy::FlushStream();
}

template <class Op, class L, Index lanes_per_element>
void reduce(Index n, const void* in, void* inout) noexcept {
  auto* out = static_cast<L*>(inout);
  combine_lanes<Op>(n * lanes_per_element, static_cast<const L*>(in), out, out);
}

/// Whatever the caches are, streaming less than this doesn't pay: the question alone would take time.
constexpr Index least_streamed = Index{1} << 20;

template <class Op, class L, Index lanes_per_element>
void combine(Index n, const void* a, const void* b, void* out) noexcept {
  const Index lanes = n * lanes_per_element;
  const Index bytes = lanes * static_cast<Index>(sizeof(L));
  constexpr std::size_t group_bytes = Op::at_once * sizeof(L);
  const bool aligned = reinterpret_cast<std::uintptr_t>(out) % group_bytes == 0;  // as streaming stores need it
  const bool streaming =
      bytes >= least_streamed && aligned && out != a && out != b && streams(Stores::automatic, bytes);
  const auto kernel = streaming ? &stream_lanes<Op, L> : &combine_lanes<Op, L>;
  kernel(lanes, static_cast<const L*>(a), static_cast<const L*>(b), static_cast<L*>(out));
}

template <class Op, class L, Index lanes_per_element = 1>
constexpr ReduceKernels kernels{&reduce<Op, L, lanes_per_element>, &combine<Op, L, lanes_per_element>};

}  // namespace
}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
