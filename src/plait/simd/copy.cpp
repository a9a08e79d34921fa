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
constexpr Index least_streamed_run = 128;  // shorter ones are lines written in part for the most

HWY_INLINE void stream_line(std::uint8_t* target, const std::uint8_t* source) {
  const hn::ScalableTag<std::uint8_t> d;
  for (Index i = 0; i < line_bytes; i += static_cast<Index>(hn::MaxLanes(d))) {
    hn::Stream(hn::LoadU(d, source + i), d, target + i);
  }
}

HWY_INLINE void copy_line(std::uint8_t* target, const std::uint8_t* source) {
  const hn::ScalableTag<std::uint8_t> d;
  for (Index i = 0; i < line_bytes; i += static_cast<Index>(hn::MaxLanes(d))) {
    hn::StoreU(hn::LoadU(d, source + i), d, target + i);
  }
}

/// How much of `bytes` from `target` on comes before the first whole cache line.
HWY_INLINE Index before_a_line(const std::uint8_t* target, Index bytes) {
  const Index past = static_cast<Index>(reinterpret_cast<std::uintptr_t>(target) % line_bytes);
  return std::min(bytes, (line_bytes - past) % line_bytes);
}

HWY_INLINE void stream_run(std::uint8_t* target, const std::uint8_t* source, Index bytes) {
  Index at = before_a_line(target, bytes);
  if (at > 0) std::memcpy(target, source, static_cast<std::size_t>(at));
  for (; at + line_bytes <= bytes; at += line_bytes) stream_line(target + at, source + at);
  if (at < bytes) std::memcpy(target + at, source + at, static_cast<std::size_t>(bytes - at));
}

HWY_INLINE void copy_run(std::uint8_t* target, const std::uint8_t* source, Index bytes) {
  constexpr Index long_run = 2048;  // which the C library copies as well as can be
  Index at = 0;
  if (bytes < long_run) {
    for (; at + line_bytes <= bytes; at += line_bytes) copy_line(target + at, source + at);
  }
  if (at < bytes) std::memcpy(target + at, source + at, static_cast<std::size_t>(bytes - at));
}

}  // namespace

/// Leaves the streaming stores to be flushed.
void stream_kernel(std::byte* target_bytes, const std::byte* source_bytes, Index bytes) {
  auto* target = reinterpret_cast<std::uint8_t*>(target_bytes);
  const auto* source = reinterpret_cast<const std::uint8_t*>(source_bytes);
  Index at = before_a_line(target, bytes);
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

void copy_runs_kernel(std::span<const CopiedRun> runs, Index major, const std::byte* source, Index source_stride_bytes,
                      std::byte* target, Index target_stride_bytes, bool streaming) {
  for (Index j = 0; j < major; ++j) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(source + j * source_stride_bytes);
    auto* to = reinterpret_cast<std::uint8_t*>(target + j * target_stride_bytes);
    for (const CopiedRun& run : runs) {
      if (!streaming || run.bytes < least_streamed_run) {
        copy_run(to + run.target, from + run.source, run.bytes);
      } else if (run.bytes < pages_at_a_time * page_bytes) {
        stream_run(to + run.target, from + run.source, run.bytes);
      } else {
        stream_kernel(target + j * target_stride_bytes + run.target, source + j * source_stride_bytes + run.source,
                      run.bytes);
      }
    }
  }
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

void copy_runs_scalar(std::span<const CopiedRun> runs, Index major, const std::byte* source, Index source_stride_bytes,
                      std::byte* target, Index target_stride_bytes, bool /*streaming*/) {
  for (Index j = 0; j < major; ++j) {
    for (const CopiedRun& run : runs) {
      copy_kernel(target + j * target_stride_bytes + run.target, source + j * source_stride_bytes + run.source,
                  run.bytes);
    }
  }
}

constexpr KernelTable<void(std::span<const CopiedRun>, Index, const std::byte*, Index, std::byte*, Index, bool)>
    copy_runs_kernels(PLAIT_SIMD_FIXED_LENGTH_KERNELS(&copy_runs_scalar, copy_runs_kernel));

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

void copy_runs(std::span<const CopiedRun> runs, Index major, const std::byte* source, Index source_stride_bytes,
               std::byte* target, Index target_stride_bytes, Isa isa, Stores stores) {
  const bool streaming = stores == Stores::streaming;
  copy_runs_kernels[isa](runs, major, source, source_stride_bytes, target, target_stride_bytes, streaming);
  if (streaming) hwy::FlushStream();
}

}  // namespace plait::simd
#endif
