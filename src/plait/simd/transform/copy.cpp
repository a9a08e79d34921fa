#include "plait/simd/transform/copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "plait/base/contract.hpp"
#include "plait/simd/cache_lines.hpp"
#include "plait/simd/dispatch.hpp"
#include "plait/simd/prefetch.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/transform/copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#ifndef PLAIT_SIMD_COPY_ONCE
#define PLAIT_SIMD_COPY_ONCE

namespace plait::simd {

namespace {

/// Runs from which on the processor itself fetches ahead as well as can be.
constexpr Index long_run = 16384;

}  // namespace

}  // namespace plait::simd

#endif

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr Index least_streamed_run = 128;  // shorter ones are lines written in part for the most
/// How far ahead of where it is copied a run is fetched, and how much at a time.
constexpr Index fetched_ahead = 4096;
constexpr Index fetched_at_once = 512;
/// Gaps up to this are fetched where they are wanted.
constexpr Index longest_fetched_gap = 4096;

HWY_INLINE void stream_line(std::uint8_t* target, const std::uint8_t* source) {
  const hn::ScalableTag<std::uint8_t> d;
  for (Index i = 0; i < line_bytes; i += static_cast<Index>(hn::MaxLanes(d))) {
    hn::Stream(hn::LoadU(d, source + i), d, target + i);
  }
}

HWY_INLINE void store_line(std::uint8_t* target, const std::uint8_t* source) {
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

/// Fetches what is copied next: of the runs one after the other, column after column. The processor sees for itself
/// where they follow each other without gaps for long.
class FetchAhead {
 public:
  /// \pre  there is a run
  FetchAhead(std::span<const CopiedRun> runs, Index major, const std::uint8_t* source, Index stride, Gaps gaps)
      : runs_(runs), columns_(major), column_source_(source), stride_(stride), gaps_(gaps) {
    advance(0);
  }

  /// `bytes` more have been copied.
  HWY_INLINE void advance(Index bytes) {
    left_over_ -= bytes;
    while (left_over_ < fetched_ahead && columns_ > 0) fetch();
  }

 private:
  HWY_INLINE void fetch() {
    const CopiedRun& run = runs_[run_];
    const std::uint8_t* from = column_source_ + run.source + at_;
    const Index bytes = std::min(fetched_at_once, run.bytes - at_);
    if (from != end_) without_gap_ = 0;
    if (without_gap_ < long_run) {
      for (Index line = -bytes_past_line(from); line < bytes; line += line_bytes) prefetch(from + line);
    }
    end_ = from + bytes;
    without_gap_ += bytes;
    left_over_ += bytes;
    at_ += bytes;
    if (at_ == run.bytes) next_run();
  }

  HWY_INLINE void next_run() {
    at_ = 0;
    if (++run_ < runs_.size()) {
      if (gaps_ == Gaps::fetched) fetch_gap(runs_[run_ - 1].source + runs_[run_ - 1].bytes, runs_[run_].source);
      return;
    }
    run_ = 0;
    column_source_ += stride_;
    --columns_;
  }

  HWY_INLINE void fetch_gap(Index begin, Index end) {
    if (end - begin > longest_fetched_gap) return;
    for (Index line = begin; line < end; line += line_bytes) prefetch(column_source_ + line);
  }

  std::span<const CopiedRun> runs_;
  Index columns_;
  const std::uint8_t* column_source_;
  Index stride_;
  Gaps gaps_;
  std::size_t run_ = 0;
  Index at_ = 0;                       // in the run
  const std::uint8_t* end_ = nullptr;  // of what has been fetched
  Index without_gap_ = 0;              // before it
  Index left_over_ = 0;                // bytes fetched and not yet copied
};

template <bool streaming>
HWY_INLINE void copy_line(std::uint8_t* target, const std::uint8_t* source) {
  if constexpr (streaming) {
    stream_line(target, source);
  } else {
    store_line(target, source);
  }
}

template <bool streaming>
HWY_INLINE void copy_run(std::uint8_t* target, const std::uint8_t* source, Index bytes, FetchAhead& ahead) {
  Index at = streaming ? before_a_line(target, bytes) : 0;
  if (at > 0) std::memcpy(target, source, static_cast<std::size_t>(at));
  Index left = bytes;
  for (; at + fetched_at_once <= bytes; at += fetched_at_once, left -= fetched_at_once) {
    ahead.advance(fetched_at_once);
    for (Index i = at; i < at + fetched_at_once; i += line_bytes) copy_line<streaming>(target + i, source + i);
  }
  ahead.advance(left);
  for (; at + line_bytes <= bytes; at += line_bytes) copy_line<streaming>(target + at, source + at);
  if (at < bytes) std::memcpy(target + at, source + at, static_cast<std::size_t>(bytes - at));
}

/// Leaves the streaming stores to be flushed.
HWY_INLINE void stream_run(std::uint8_t* target, const std::uint8_t* source, Index bytes) {
  constexpr Index group = 4 * line_bytes;
  constexpr Index ahead = 1024;
  Index at = before_a_line(target, bytes);
  if (at > 0) std::memcpy(target, source, static_cast<std::size_t>(at));
  for (; at + group + ahead <= bytes; at += group) {
    for (Index line = at; line < at + group; line += line_bytes) prefetch(source + line + ahead);
    for (Index line = at; line < at + group; line += line_bytes) stream_line(target + line, source + line);
  }
  for (; at + line_bytes <= bytes; at += line_bytes) stream_line(target + at, source + at);
  if (at < bytes) std::memcpy(target + at, source + at, static_cast<std::size_t>(bytes - at));
}

}  // namespace

void stream_kernel(std::byte* target, const std::byte* source, Index bytes) {
  stream_run(reinterpret_cast<std::uint8_t*>(target), reinterpret_cast<const std::uint8_t*>(source), bytes);
}

/// Likewise.
void copy_runs_kernel(std::span<const CopiedRun> runs, Index major, const std::byte* source, Index source_stride_bytes,
                      std::byte* target, Index target_stride_bytes, bool streaming, Gaps gaps) {
  FetchAhead ahead(runs, major, reinterpret_cast<const std::uint8_t*>(source), source_stride_bytes, gaps);
  for (Index j = 0; j < major; ++j) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(source + j * source_stride_bytes);
    auto* to = reinterpret_cast<std::uint8_t*>(target + j * target_stride_bytes);
    for (const CopiedRun& run : runs) {
      if (streaming && run.bytes >= least_streamed_run) {
        copy_run<true>(to + run.target, from + run.source, run.bytes, ahead);
      } else {
        copy_run<false>(to + run.target, from + run.source, run.bytes, ahead);
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
                      std::byte* target, Index target_stride_bytes, bool /*streaming*/, Gaps /*gaps*/) {
  for (Index j = 0; j < major; ++j) {
    for (const CopiedRun& run : runs) {
      copy_kernel(target + j * target_stride_bytes + run.target, source + j * source_stride_bytes + run.source,
                  run.bytes);
    }
  }
}

constexpr KernelTable<void(std::span<const CopiedRun>, Index, const std::byte*, Index, std::byte*, Index, bool, Gaps)>
    copy_runs_kernels(PLAIT_SIMD_FIXED_LENGTH_KERNELS(&copy_runs_scalar, copy_runs_kernel));

/// Up to this many bytes, looking ahead for a run costs more than it gains.
constexpr Index short_run = 64;

/// \pre  half <= bytes <= 2 half
template <std::size_t half>
void copy_halves(std::byte* target, const std::byte* source, Index bytes) {
  const Index second = bytes - static_cast<Index>(half);
  std::memcpy(target, source, half);
  if (second > 0) std::memcpy(target + second, source + second, half);
}

void copy_short(std::byte* target, const std::byte* source, Index bytes) {
  if (bytes >= 32) return copy_halves<32>(target, source, bytes);
  if (bytes >= 16) return copy_halves<16>(target, source, bytes);
  if (bytes >= 8) return copy_halves<8>(target, source, bytes);
  if (bytes >= 4) return copy_halves<4>(target, source, bytes);
  for (Index i = 0; i < bytes; ++i) target[i] = source[i];
}

/// Runs of one length at equal distances, as those of single elements that were dealt out in turn.
struct Comb {
  Index teeth;
  Index bytes;
  Index source_step;
  Index target_step;
};

/// \pre  there is a run
std::optional<Comb> comb_of(std::span<const CopiedRun> runs) {
  const CopiedRun& first = runs[0];
  const CopiedRun& second = runs[runs.size() > 1 ? 1 : 0];
  const Comb comb{static_cast<Index>(runs.size()), first.bytes, second.source - first.source,
                  second.target - first.target};
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].bytes != comb.bytes || runs[i].source - runs[i - 1].source != comb.source_step ||
        runs[i].target - runs[i - 1].target != comb.target_step) {
      return std::nullopt;
    }
  }
  return comb;
}

template <std::size_t bytes>
void copy_comb(const Comb& comb, const std::byte* source, std::byte* target) {
  for (Index i = 0; i < comb.teeth; ++i) {
    std::memcpy(target + i * comb.target_step, source + i * comb.source_step, bytes);
  }
}

using CopyComb = void (*)(const Comb&, const std::byte*, std::byte*);

/// For the lengths of elements; null for others.
CopyComb comb_kernel(Index bytes) {
  switch (bytes) {
    case 1: return copy_comb<1>;
    case 2: return copy_comb<2>;
    case 4: return copy_comb<4>;
    case 8: return copy_comb<8>;
    case 16: return copy_comb<16>;
    default: return nullptr;
  }
}

/// \pre  there is a run, and none is longer than `short_run`
void copy_short_runs(std::span<const CopiedRun> runs, Index major, const std::byte* source, Index source_stride_bytes,
                     std::byte* target, Index target_stride_bytes) {
  const std::optional<Comb> comb = comb_of(runs);
  const CopyComb copy_teeth = comb ? comb_kernel(comb->bytes) : nullptr;
  for (Index j = 0; j < major; ++j) {
    const std::byte* from = source + j * source_stride_bytes;
    std::byte* to = target + j * target_stride_bytes;
    if (copy_teeth) {
      copy_teeth(*comb, from + runs[0].source, to + runs[0].target);
      continue;
    }
    for (const CopiedRun& run : runs) copy_short(to + run.target, from + run.source, run.bytes);
  }
}

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
               std::byte* target, Index target_stride_bytes, Isa isa, Stores stores, Gaps gaps) {
  const bool streaming = stores == Stores::streaming;
  CopiedRun whole;
  if (runs.size() == 1 && runs[0].bytes == source_stride_bytes && runs[0].bytes == target_stride_bytes) {
    whole = {runs[0].source, runs[0].target, runs[0].bytes * major};  // no gaps on either side
    runs = {&whole, 1};
    major = 1;
  }
  if (runs.empty()) return;
  const auto [shortest, longest] = std::ranges::minmax(runs, {}, &CopiedRun::bytes);
  if (longest.bytes <= short_run) {
    return copy_short_runs(runs, major, source, source_stride_bytes, target, target_stride_bytes);
  }
  if (shortest.bytes >= long_run) {
    auto& copy = streaming ? stream_kernels[isa] : copy_kernel;
    for (Index j = 0; j < major; ++j) {
      for (const CopiedRun& run : runs) {
        copy(target + j * target_stride_bytes + run.target, source + j * source_stride_bytes + run.source, run.bytes);
      }
    }
  } else {
    copy_runs_kernels[isa](runs, major, source, source_stride_bytes, target, target_stride_bytes, streaming, gaps);
  }
  if (streaming) hwy::FlushStream();
}

}  // namespace plait::simd
#endif
