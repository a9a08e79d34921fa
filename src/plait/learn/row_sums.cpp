#include "plait/learn/row_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "plait/collective/calls.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

void RowSums::begin(std::span<const double> bounds, int exponent, Index groups, Index rows) {
  const bool is_as_before = window_ && exponent == exponent_ && rows == rows_ && std::ranges::equal(bounds, bounds_);
  if (!is_as_before) {
    std::vector<simd::BitRange> bits;
    for (const double bound : bounds) {
      constexpr Index kept = 60;
      constexpr Index lowest = -1074;
      if (bound == 0) {
        bits.emplace_back();
        continue;
      }
      const Index first = std::max<Index>(std::ilogb(bound) + exponent, lowest);
      bits.push_back({std::max(lowest, first - kept), first});
    }
    window_.emplace(bits, rows);
    bounds_.assign(bounds.begin(), bounds.end());
    exponent_ = exponent;
    rows_ = rows;
  }
  groups_ = groups;
  words_.assign(at(groups * window_->words_of_group()), 0);
  rows_until_carry_ = simd::ColumnWindow::rows_between_carries;
}

void RowSums::add(const double* numbers, Index rows, Index group) {
  constexpr Index at_once = 64;
  std::array<Index, at_once> place;
  std::array<std::int32_t, at_once> to;
  std::iota(place.begin(), place.end(), Index{0});
  to.fill(static_cast<std::int32_t>(group));
  const Index columns = window_->columns();
  for (Index begin = 0; begin < rows; begin += at_once) {
    const Index count = std::min(at_once, rows - begin);
    kernel_(*window_, {numbers + begin * columns, count, columns, columns}, place.data(), nullptr, to.data(), count,
            words_.data());
  }
  rows_until_carry_ -= rows;
  if (rows_until_carry_ <= at_once) carry();
}

void RowSums::carry() {
  for (Index g = 0; g < groups_; ++g) window_->carry(words_.data() + g * window_->words_of_group());
  rows_until_carry_ = simd::ColumnWindow::rows_between_carries;
}

void RowSums::merge(mpi::Context& context, bool on_rank_0) {
  carry();
  const std::span<std::int64_t> words(words_);
  if (on_rank_0) {
    collective::reduce(context, words, 0, simd::ReduceOperation::sum);
  } else {
    mpi::all_reduce(context.comm(), words, mpi::Operation::sum());
  }
  carry();
}

}  // namespace plait::learn
