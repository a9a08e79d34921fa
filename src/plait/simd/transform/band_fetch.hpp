#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <hwy/base.h>

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
    begin_run();
    advance(0);
  }

  /// So many more rows of a run are read now, of all columns of a band.
  HWY_INLINE void advance(Index rows) {
    rows_ahead_ -= rows;
    while (rows_ahead_ < most_rows_ahead && column_ < all_.columns) fetch_line();
  }

 private:
  static constexpr Index line = line_bytes / element;
  // The processor does not see by itself that so many columns are read side by side.
  static constexpr Index most_rows_ahead = std::max(Index{8}, 2 * together) * line;

  // A line of all columns, or all lines of the group of as large a share of them.
  HWY_INLINE void fetch_line() {
    const Index columns = std::min(band_, all_.columns - column_);
    const Index first = share_;
    ++step_;
    share_ = lines_ == together ? columns * step_ / together : columns * step_ / lines_;  // mostly no division
    for (Index c = first; c < share_; ++c) {
      const std::byte* const column = group_ + c * all_.source_stride;
      for (Index l = 0; l < (together == 1 ? 1 : lines_); ++l) prefetch(column + l * line_bytes);
    }
    if (last_byte_ > 0) {
      for (Index c = first; c < share_; ++c) prefetch(group_ + c * all_.source_stride + last_byte_);
    }
    rows_ahead_ += line;
    if (step_ == lines_) next_group();
  }

  void begin_run() {
    row_ = 0;
    group_ = all_.source + runs_[run_].source * element + column_ * all_.source_stride;
    begin_group();
  }

  HWY_INLINE void begin_group() {
    step_ = 0;
    share_ = 0;
    lines_ = together;
    last_byte_ = 0;
    if (runs_[run_].length - row_ <= together * line) begin_last_group();
  }

  void begin_last_group() {
    const Index rows = runs_[run_].length - row_;
    lines_ = std::max(Index{1}, quotient_up(rows, line));  // runs may be empty
    const bool begins_in_line = all_.source_stride % line_bytes != 0 || bytes_past_line(group_) != 0;
    if (begins_in_line) last_byte_ = rows * element - 1;
  }

  HWY_INLINE void next_group() {
    row_ += lines_ * line;
    group_ += lines_ * line_bytes;
    const Index beyond = row_ - runs_[run_].length;
    if (beyond < 0) return begin_group();
    rows_ahead_ -= beyond;
    next_run();
  }

  void next_run() {
    if (++run_ == runs_.size()) {
      run_ = 0;
      column_ += band_;
    }
    begin_run();
  }

  Transposition all_;
  std::span<const ElementRun> runs_;
  Index band_;
  Index column_;
  std::size_t run_ = 0;
  Index row_;               // in the run, where a group of lines begins
  const std::byte* group_;  // its first line, in the first column
  Index lines_;             // of each column
  Index last_byte_;         // of the run, where it may lie on one line more; else 0
  Index step_;              // of as many as the group has lines
  Index share_;             // of the columns, that has been fetched by then
  Index rows_ahead_ = 0;    // fetched, but not yet read
};

}  // namespace plait::simd
