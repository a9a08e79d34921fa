#include "plait/sinkhorn/row_blocks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "plait/base/caches.hpp"
#include "plait/base/contract.hpp"
#include "plait/simd/scaling_kernels.hpp"

namespace plait::sinkhorn {

namespace {

/// Others use the processor, too: the shortest of a few times is the candidate's own.
constexpr Index tries_of_each = 6;

/// Long enough for the clock, and to hide that nothing has fetched the first block of a stretch.
constexpr Index least_stretch_bytes = Index{1} << 20;
constexpr Index least_stretch_blocks = 8;

}  // namespace

std::vector<RowBlocks> row_block_candidates(Index columns, Index element_bytes, Index cache_bytes) {
  constexpr Index usual_cache_bytes = Index{512} << 10;
  constexpr Index least_rows = 4;  // fewer would read the vectors that belong to the columns too often
  const Index cache = cache_bytes > 0 ? cache_bytes : usual_cache_bytes;
  const Index row_bytes = std::max(Index{1}, columns) * element_bytes;
  Index rows = simd::most_rows_at_a_time;
  while (rows > least_rows && (rows + 2) * row_bytes > cache) rows /= 2;
  std::vector<RowBlocks> candidates{{rows, false}};
  if (rows > least_rows) candidates.push_back({rows / 2, false});
  candidates.push_back({simd::most_rows_at_a_time, true});
  candidates.push_back({simd::most_rows_at_a_time / 2, true});
  return candidates;
}

RowBlockTrial::RowBlockTrial(std::vector<RowBlocks> candidates, Index row_bytes)
    : candidates_(std::move(candidates)),
      shortest_(candidates_.size(), std::chrono::steady_clock::duration::max()),
      stretch_rows_(std::max(least_stretch_blocks,
                             least_stretch_bytes / std::max(Index{1}, row_bytes) / simd::most_rows_at_a_time + 1) *
                    simd::most_rows_at_a_time),
      tries_left_(candidates_.size() > 1 ? tries_of_each * static_cast<Index>(candidates_.size()) : 0) {
  PLAIT_ASSERT(!candidates_.empty(), "there is a way to take the rows");
}

void RowBlockTrial::took(std::chrono::steady_clock::duration time) {
  shortest_[current_] = std::min(shortest_[current_], time);
  --tries_left_;
  if (is_over()) {
    current_ = static_cast<std::size_t>(std::ranges::min_element(shortest_) - shortest_.begin());
  } else {
    current_ = (current_ + 1) % candidates_.size();
  }
}

RowBlockTrial& row_block_trial(Sweep sweep, Index columns, Index element_bytes) {
  thread_local std::map<std::tuple<Sweep, Index, Index>, RowBlockTrial> trials;
  return trials
      .try_emplace({sweep, columns, element_bytes},
                   row_block_candidates(columns, element_bytes, second_level_cache_bytes()), columns * element_bytes)
      .first->second;
}

}  // namespace plait::sinkhorn
