#pragma once

#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/stores.hpp"

namespace plait::simd {

/// Copies `bytes` bytes: with streaming stores where the target is much larger than the caches, with `memcpy` where it
/// is not. A plain copy reads and writes ahead of itself, so `Stores::automatic` streams later than other kernels do,
/// from eight times `streaming_threshold_bytes()` on.
///
/// \pre  source and target do not overlap, or are the same
/// \pre  is_supported(isa)
void stream_copy(std::byte* target, const std::byte* source, Index bytes, Isa isa = selected_isa(),
                 Stores stores = Stores::automatic);

/// Copies `major` columns (rows, if the matrix is row-major) of `minor_bytes` bytes each, which begin
/// `source_stride_bytes` and `target_stride_bytes` apart; as one run where both sides have no gaps. Bytes between the
/// columns of the target are not written. It streams from the same total size on as `stream_copy`.
///
/// \pre  minor_bytes >= 0 and major >= 0
/// \pre  both strides are >= minor_bytes
/// \pre  source and target do not overlap, or are the same
/// \pre  is_supported(isa)
void copy_matrix(Index minor_bytes, Index major, const std::byte* source, Index source_stride_bytes, std::byte* target,
                 Index target_stride_bytes, Isa isa = selected_isa(), Stores stores = Stores::automatic);

/// Neighbouring bytes, from `source` bytes after the beginning of a source column to `target` after that of a target's.
struct CopiedRun {
  Index source = 0;
  Index target = 0;
  Index bytes = 0;
};

/// What lies between short runs of a source: left alone, or fetched into the caches with them, as it is copied soon
/// after. Memory is read at its speed without gaps only; 512 of every 1024 bytes take as long as all of them.
enum class Gaps : unsigned char { skipped, fetched };

/// Copies the same runs of each of `major` columns, which begin `source_stride_bytes` and `target_stride_bytes` apart:
/// many short runs at the cost of one call. `Stores::automatic` does not stream.
///
/// \pre  runs are >= 0 bytes long, and those of the target do not overlap; source and target do not overlap
/// \pre  is_supported(isa)
void copy_runs(std::span<const CopiedRun> runs, Index major, const std::byte* source, Index source_stride_bytes,
               std::byte* target, Index target_stride_bytes, Isa isa = selected_isa(),
               Stores stores = Stores::automatic, Gaps gaps = Gaps::skipped);

}  // namespace plait::simd
