#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/simd/prefetch.hpp"
#include "plait/simd/transform/transpose.hpp"
#include "plait/simd/transform/transposition.hpp"

namespace plait::simd {

/// Fetches what is read some lines later: of the runs one after the other, then of the next band of columns.
template <Index element>
class BandFetch {
 public:
  BandFetch(const Transposition& all, std::span<const ElementRun> runs, Index first_column, Index band)
      : all_(all), runs_(runs), band_(band), column_(first_column) {
    for (Index i = 0; i < lines_ahead; ++i) next_line();
  }

  void next_line() {
    if (row_ >= runs_[run_].length) next_run();
    const std::byte* line = all_.source + (runs_[run_].source + row_) * element + column_ * all_.source_stride;
    const Index columns = std::min(band_, all_.columns - column_);
    for (Index c = 0; c < columns; ++c) prefetch(line + c * all_.source_stride);
    row_ += line_bytes / element;
  }

 private:
  // The processor does not see by itself that so many columns are read side by side.
  static constexpr Index lines_ahead = 8;

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
  Index row_ = 0;
};

}  // namespace plait::simd
