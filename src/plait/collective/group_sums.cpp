#include "plait/collective/group_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "plait/collective/calls.hpp"
#include "plait/collective/pipeline.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::collective {

simd::ColumnWindow window_within(std::span<const double> bounds, int exponent, Index rows) {
  std::vector<simd::BitRange> bits;
  for (const double bound : bounds) {
    constexpr Index kept = 60;
    constexpr Index lowest = -1074;
    simd::BitRange& its = bits.emplace_back();
    if (bound == 0) continue;
    its.first = std::max<Index>(std::ilogb(bound) + exponent, lowest);
    its.last = std::max(lowest, its.first - kept);
  }
  return {bits, rows};
}

void GroupSums::begin(const simd::ColumnWindow& window, Index groups) {
  const Index words = groups + groups * window.words_of_group();
  if (words != own_.count()) over_ranks_.reset();
  window_ = window;
  for (auto* each : {&own_, &all_, &before_}) each->assign(at(words), 0);
  changed_.assign(at(groups), 0);
  clear();
}

void GroupSums::clear() {
  std::ranges::fill(own_, 0);
  rows_until_carry_ = simd::ColumnWindow::rows_between_carries;
}

template <class T>
void GroupSums::move(simd::RowBlock<const T> x, std::span<const Index> rows, std::span<const std::int32_t> from,
                     std::span<const std::int32_t> to) {
  const auto count = static_cast<Index>(rows.size());
  for (const std::int32_t group : to) ++own_[group];
  for (const std::int32_t group : from) --own_[group];
  simd::column_sum_kernel<T>()(*window_, x, rows.data(), from.empty() ? nullptr : from.data(), to.data(), count,
                               own_.data() + words_begin(0));
  rows_until_carry_ -= count;
  if (rows_until_carry_ > 0) return;
  carry(own_);
  rows_until_carry_ = simd::ColumnWindow::rows_between_carries;
}

void GroupSums::add(const double* numbers, Index rows, Index group) {
  constexpr Index at_once = 64;
  std::array<Index, at_once> places;
  std::array<std::int32_t, at_once> to;
  std::iota(places.begin(), places.end(), Index{0});
  to.fill(static_cast<std::int32_t>(group));
  const Index columns = window_->columns();
  for (Index begin = 0; begin < rows; begin += at_once) {
    const auto count = std::min(at_once, rows - begin);
    move<double>({numbers + begin * columns, count, columns, columns}, std::span(places).first(at(count)), {},
                 std::span(to).first(at(count)));
  }
}

void GroupSums::carry(Vector<std::int64_t>& sums) const {
  for (Index g = 0; g < groups(); ++g) window_->carry(sums.data() + words_begin(g));
}

void GroupSums::copy_own() {
  std::swap(all_, before_);
  std::ranges::copy(own_, all_.begin());
  carry(all_);
}

void GroupSums::merge(mpi::Context& context) {
  copy_own();
  if (context.size() > 1) {
    if (!over_ranks_) {
      over_ranks_ = Pipeline(context, all_.count(), Index{sizeof(std::int64_t)})
                        .allreduce(Group::all(context), {simd::ReduceOperation::sum, simd::element_of<std::int64_t>()})
                        .schedule("exact sums");
    }
    const auto vector = schedule::Binding::output(std::as_writable_bytes(std::span(all_)));
    over_ranks_->start(std::span(&vector, 1));
    over_ranks_->wait();
    carry(all_);
  }
  const Index words = window_->words_of_group();
  for (Index g = 0; g < groups(); ++g) {
    const auto begin = all_.begin() + words_begin(g);
    const bool is_as_before =
        all_[g] == before_[g] && std::equal(begin, begin + words, before_.begin() + words_begin(g));
    if (!is_as_before) changed_[g] = 1;
  }
}

void GroupSums::merge_on_rank_0(mpi::Context& context) {
  copy_own();
  reduce(context, std::span<std::int64_t>(all_), 0, simd::ReduceOperation::sum);
  carry(all_);
}

void GroupSums::forget_changes() { std::ranges::fill(changed_, 0); }

template void GroupSums::move(simd::RowBlock<const float>, std::span<const Index>, std::span<const std::int32_t>,
                              std::span<const std::int32_t>);
template void GroupSums::move(simd::RowBlock<const double>, std::span<const Index>, std::span<const std::int32_t>,
                              std::span<const std::int32_t>);

}  // namespace plait::collective
