#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/base/rounding.hpp"
#include "plait/simd/cache_lines.hpp"
#include "plait/simd/prefetch.hpp"
#include "plait/simd/transform/transpose.hpp"
#include "plait/simd/transform/transposition.hpp"

namespace plait::simd {

/// Fetches what is read some lines later: of the runs one after the other, then of the next band of columns. While so
/// many lines of all columns are read, as many are fetched `together`, of one column after the other: columns that
/// collide in the caches lie in the same banks of memory, too, which answers neighbours faster.
template <Index element, Index together>
class BandFetch {
 public:
  BandFetch(const Transposition& all, std::span<const ElementRun> runs, Index first_column, Index band)
      : all_(all), runs_(runs), band_(band), column_(first_column) {
    begin_group();
    for (Index i = 0; i < lines_ahead; ++i) next_line();
  }

  /// To be called once for each line that is read of all columns of a band.
  void next_line() {
    if (step_ == lines_) next_group();
    const Index columns = std::min(band_, all_.columns - column_);
    if constexpr (together == 1) {
      for (Index c = 0; c < columns; ++c) prefetch(group_ + c * all_.source_stride);
    } else {
      for (Index c = columns * step_ / lines_; c < columns * (step_ + 1) / lines_; ++c) {
        for (Index l = 0; l < lines_; ++l) prefetch(group_ + c * all_.source_stride + l * line_bytes);
      }
    }
    ++step_;
  }

 private:
  // The processor does not see by itself that so many columns are read side by side.
  static constexpr Index lines_ahead = std::max(Index{8}, 2 * together);
  static constexpr Index line = line_bytes / element;

  void begin_group() {
    const ElementRun& run = runs_[run_];
    group_ = all_.source + (run.source + row_) * element + column_ * all_.source_stride;
    if constexpr (together > 1) {
      lines_ = std::clamp(quotient_up(run.length - row_, line), Index{1}, together);  // runs may be empty
    }
    step_ = 0;
  }

  void next_group() {
    row_ += lines_ * line;
    if (row_ >= runs_[run_].length) next_run();
    begin_group();
  }

  void next_run() {
    row_ = 0;
    if (++run_ < runs_.size()) return;
    run_ = 0;
    column_ += band_;
  }

  Transposition all_;
  std::span<const ElementRun> runs_;
  Index band_;
  Index column_;
  std::size_t run_ = 0;
  Index row_ = 0;           // in the run, where a group of lines begins
  const std::byte* group_;  // its first line, in the first column
  Index lines_ = 1;         // of each column
  Index step_;              // of as many: which share of the columns is next
};

}  // namespace plait::simd
