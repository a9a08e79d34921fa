#pragma once

#include <chrono>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

/// How many rows a sweep takes at a time, and whether it fetches the next ones meanwhile.
struct RowBlocks {
  Index rows = 1;
  bool fetches_ahead = false;

  friend bool operator==(const RowBlocks&, const RowBlocks&) = default;
};

/// What may be the fastest way through a matrix whose rows are passed through twice, the second time from the
/// second-level cache: as many rows at a time as have room there, or half of them; or, fetching the next ones
/// meanwhile, as many as the kernels take, or half of them, even if what has no room comes from the cache behind it.
[[nodiscard]] std::vector<RowBlocks> row_block_candidates(Index columns, Index element_bytes, Index cache_bytes);

/// Finds the fastest of some ways to take rows by trying them on the first stretches of rows of the first sweeps, as
/// processors that look alike differ in it. Sweeps add in the same order whichever is taken, so that results do not
/// depend on it.
class RowBlockTrial {
 public:
  /// \pre  there is a candidate
  RowBlockTrial(std::vector<RowBlocks> candidates, Index row_bytes);

  /// Calls f(first row, number of rows, how to take them) for stretches of rows, one after the other.
  template <class F>
  void for_each_stretch(Index rows, F&& f) {
    for (Index first = 0; first < rows;) {
      const Index count = is_over() ? rows - first : std::min(stretch_rows_, rows - first);
      const RowBlocks blocks = candidates_[current_];
      const auto start = std::chrono::steady_clock::now();
      f(first, count, blocks);
      if (count >= stretch_rows_ && !is_over()) took(std::chrono::steady_clock::now() - start);
      first += count;
    }
  }

  [[nodiscard]] bool is_over() const noexcept { return tries_left_ == 0; }

 private:
  /// Notes how long a stretch of the current candidate took, and goes on to the next one.
  void took(std::chrono::steady_clock::duration time);

  std::vector<RowBlocks> candidates_;
  std::vector<std::chrono::steady_clock::duration> shortest_;
  std::size_t current_ = 0;
  Index stretch_rows_ = 1;
  Index tries_left_ = 0;
};

/// What a second pass does to the rows.
enum class Sweep : unsigned char { reads, rewrites };

/// The trial that all sweeps of this thread over rows of this length take part in.
[[nodiscard]] RowBlockTrial& row_block_trial(Sweep sweep, Index columns, Index element_bytes);

/// Rows [first, first + count) of row-major rows.
template <class T>
[[nodiscard]] simd::RowBlock<T> block_of(matrix_view<T> rows, Index first, Index count) {
  return {rows.data() + first * rows.leading_dimension(), count, rows.columns(), rows.leading_dimension()};
}

}  // namespace plait::sinkhorn
