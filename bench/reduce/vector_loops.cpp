#include "bench/reduce/vector_loops.hpp"

#include <cstdint>

#include "plait/base/contract.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/reduce/vector_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace plait::bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lane = std::uint64_t;
using Vectors = hn::ScalableTag<Lane>;

// A short loop gets along with the branch at its end where four vectors share it; `lanes` need not be a multiple of
// that.
void combine(std::size_t lanes, const Lane* in, Lane* inout) {
  const Vectors d;
  const std::size_t step = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * step <= lanes; i += 4 * step) {
    const auto a = hn::Xor(hn::LoadU(d, in + i), hn::Load(d, inout + i));
    const auto b = hn::Xor(hn::LoadU(d, in + i + step), hn::Load(d, inout + i + step));
    const auto c = hn::Xor(hn::LoadU(d, in + i + 2 * step), hn::Load(d, inout + i + 2 * step));
    const auto e = hn::Xor(hn::LoadU(d, in + i + 3 * step), hn::Load(d, inout + i + 3 * step));
    hn::Store(a, d, inout + i);
    hn::Store(b, d, inout + i + step);
    hn::Store(c, d, inout + i + 2 * step);
    hn::Store(e, d, inout + i + 3 * step);
  }
  for (; i + step <= lanes; i += step) {
    hn::Store(hn::Xor(hn::LoadU(d, in + i), hn::Load(d, inout + i)), d, inout + i);
  }
  for (; i < lanes; ++i) inout[i] ^= in[i];
}

void be_busy(std::size_t lanes, const Lane* in, Lane* inout) {
  const Vectors d;
  const std::size_t step = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a, f = a, g = a, h = a, k = a;
  for (std::size_t i = 0; i + step <= lanes; i += step) {
    const auto v = hn::LoadU(d, in + i);
    const auto w = hn::Load(d, inout + i);
    // In turn added to and combined by xor, so that no compiler can leave one of them out.
    a = hn::Xor(hn::Add(a, v), w);
    b = hn::Xor(hn::Add(b, w), v);
    c = hn::Add(hn::Xor(c, v), w);
    e = hn::Add(hn::Xor(e, w), v);
    f = hn::Xor(hn::Sub(f, v), w);
    g = hn::Xor(hn::Sub(g, w), v);
    h = hn::Sub(hn::Xor(h, v), w);
    k = hn::Sub(hn::Xor(k, w), v);
    hn::Store(v, d, inout + i);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, k)));
  hn::Store(sum, d, inout);
}

// The larger one as integers: converting is what the adders of some processors do, too.
template <class D, class Halves>
HWY_INLINE void convert(D floats, const hwy::float16_t* in, hwy::float16_t* inout, Halves halves) {
  const hn::RebindToSigned<D> integers;
  const auto a = hn::BitCast(integers, hn::PromoteTo(floats, hn::LoadU(halves, in)));
  const auto b = hn::BitCast(integers, hn::PromoteTo(floats, hn::Load(halves, inout)));
  hn::Store(hn::DemoteTo(halves, hn::BitCast(floats, hn::Max(a, b))), halves, inout);
}

void convert_all(std::size_t lanes, const hwy::float16_t* in, hwy::float16_t* inout) {
  const hn::ScalableTag<float> floats;
  const hn::Rebind<hwy::float16_t, decltype(floats)> halves;
  const std::size_t step = hn::Lanes(floats);
  std::size_t i = 0;
  for (; i + 4 * step <= lanes; i += 4 * step) {
    for (std::size_t j = i; j < i + 4 * step; j += step) convert(floats, in + j, inout + j, halves);
  }
  for (; i + step <= lanes; i += step) convert(floats, in + i, inout + i, halves);
}

}  // namespace
}  // namespace plait::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace plait::bench {

namespace {

HWY_EXPORT(combine);
HWY_EXPORT(be_busy);
HWY_EXPORT(convert_all);

std::size_t lanes_in(Index bytes) {
  PLAIT_ASSERT(bytes % 64 == 0, "operands are whole cache lines");
  return static_cast<std::size_t>(bytes) / sizeof(std::uint64_t);
}

}  // namespace

void two_loads_and_a_store(Index bytes, const std::byte* in, std::byte* inout) {
  HWY_DYNAMIC_DISPATCH(combine)
  (lanes_in(bytes), reinterpret_cast<const std::uint64_t*>(in), reinterpret_cast<std::uint64_t*>(inout));
}

void busy_vectors(Index bytes, const std::byte* in, std::byte* inout) {
  HWY_DYNAMIC_DISPATCH(be_busy)
  (lanes_in(bytes), reinterpret_cast<const std::uint64_t*>(in), reinterpret_cast<std::uint64_t*>(inout));
}

void convert_halves(Index bytes, const std::byte* in, std::byte* inout) {
  static_cast<void>(lanes_in(bytes));
  HWY_DYNAMIC_DISPATCH(convert_all)
  (static_cast<std::size_t>(bytes) / sizeof(hwy::float16_t), reinterpret_cast<const hwy::float16_t*>(in),
   reinterpret_cast<hwy::float16_t*>(inout));
}

}  // namespace plait::bench

#endif
