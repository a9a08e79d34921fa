#include "plait/simd/copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plait/base/contract.hpp"
#include "plait/simd/dispatch.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr Index line_bytes = 64;
constexpr Index page_bytes = 4096;
constexpr Index pages_at_a_time = 4;

HWY_INLINE void stream_line(std::uint8_t* target, const std::uint8_t* source) {
  const hn::ScalableTag<std::uint8_t> d;
  for (Index i = 0; i < line_bytes; i += static_cast<Index>(hn::MaxLanes(d))) {
    hn::Stream(hn::LoadU(d, source + i), d, target + i);
  }
}

}  // namespace

/// Leaves the streaming stores to be flushed.
void stream_kernel(std::byte* target_bytes, const std::byte* source_bytes, Index bytes) {
  auto* target = reinterpret_cast<std::uint8_t*>(target_bytes);
  const auto* source = reinterpret_cast<const std::uint8_t*>(source_bytes);
  const Index past = static_cast<Index>(reinterpret_cast<std::uintptr_t>(target) % line_bytes);
  Index at = std::min(bytes, (line_bytes - past) % line_bytes);
  std::memcpy(target, source, static_cast<std::size_t>(at));

  // A line of each of several pages in turn: more reads are under way than one stream of them would have.
  constexpr Index group = pages_at_a_time * page_bytes;
  for (; at + group <= bytes; at += group) {
    for (Index line = at; line < at + page_bytes; line += line_bytes) {
      for (Index page = 0; page < group; page += page_bytes) stream_line(target + line + page, source + line + page);
    }
  }
  for (; at + line_bytes <= bytes; at += line_bytes) stream_line(target + at, source + at);
  std::memcpy(target + at, source + at, static_cast<std::size_t>(bytes - at));
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

void copy_kernel(std::byte* target, const std::byte* source, Index bytes) {
  std::memcpy(target, source, static_cast<std::size_t>(bytes));
}

constexpr KernelTable<void(std::byte*, const std::byte*, Index)> stream_kernels(
    PLAIT_SIMD_FIXED_LENGTH_KERNELS(&copy_kernel, stream_kernel));

/// Shorter columns would be lines written in part for the most.
constexpr Index least_streamed_column = 512;

bool streams_copy(Stores stores, Index bytes) {
  constexpr Index later = 8;
  return streams(stores, bytes / later);
}

}  // namespace

void stream_copy(std::byte* target, const std::byte* source, Index bytes, Isa isa, Stores stores) {
  copy_matrix(bytes, 1, source, bytes, target, bytes, isa, stores);
}

void copy_matrix(Index minor_bytes, Index major, const std::byte* source, Index source_stride_bytes, std::byte* target,
                 Index target_stride_bytes, Isa isa, Stores stores) {
  PLAIT_ASSERT(minor_bytes >= 0 && major >= 0, "a matrix has no negative extent");
  PLAIT_ASSERT(source_stride_bytes >= minor_bytes, "the source's stride spans a column");
  PLAIT_ASSERT(target_stride_bytes >= minor_bytes, "the target's stride spans a column");
  if (minor_bytes == 0 || major == 0 || source == target) return;
  if (source_stride_bytes == minor_bytes && target_stride_bytes == minor_bytes) {
    minor_bytes *= major;
    major = 1;
  }
  const bool streaming = minor_bytes >= least_streamed_column && streams_copy(stores, minor_bytes * major);
  auto& copy = streaming ? stream_kernels[isa] : copy_kernel;
  for (Index j = 0; j < major; ++j) {
    copy(target + j * target_stride_bytes, source + j * source_stride_bytes, minor_bytes);
  }
  if (streaming) hwy::FlushStream();
}

}  // namespace plait::simd
#endif
