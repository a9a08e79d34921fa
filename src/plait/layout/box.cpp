#include "plait/layout/box.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"

namespace plait::layout {

namespace {

std::vector<Index> even_splits(Index extent, int parts) {
  expect_at_least("parts", parts, 1);
  std::vector<Index> splits{0};
  for (int part = 0; part < parts; ++part) {
    splits.push_back(splits.back() + extent / parts + (part < extent % parts ? 1 : 0));
  }
  return splits;
}

BoxPartition::Splits even_splits(const Box& whole, const BoxPartition::Parts& parts) {
  if (whole.low != Point{}) {
    throw ArgumentError(fmt::format("whole: begins at {}, expected 0", fmt::join(whole.low, ", ")));
  }
  BoxPartition::Splits splits;
  for (std::size_t a = 0; a < axes; ++a) splits[a] = even_splits(whole.extent(static_cast<int>(a)), parts[a]);
  return splits;
}

int part_holding(std::span<const Index> splits, Index point) {
  return static_cast<int>(std::upper_bound(splits.begin(), splits.end(), point) - splits.begin()) - 1;
}

// The points from `begin` on that a target wants, period after period, from the parts that hold them.
void append_runs(std::span<const Index> source, AxisRun run, Index begin, Index end, std::vector<AxisRun>& runs) {
  const Index extent = source.back();
  for (run.target = begin; run.target < end; run.target += run.length) {
    run.source = (run.target % extent + extent) % extent;
    run.source_part = part_holding(source, run.source);
    run.length = std::min(end - run.target, source[at(run.source_part) + 1] - run.source);
    runs.push_back(run);
  }
}

}  // namespace

Box Box::of(std::span<const Index> extents) {
  if (extents.empty() || extents.size() > axes) {
    throw ArgumentError(fmt::format("extents: there are {}, expected 1 to {}", extents.size(), axes));
  }
  Box box{{}, {1, 1, 1}};
  std::copy(extents.begin(), extents.end(), box.high.end() - static_cast<std::ptrdiff_t>(extents.size()));
  Index most = std::numeric_limits<Index>::max();
  for (const Index extent : extents) {
    expect_at_least("extent", extent, 0);
    most /= std::max<Index>(extent, 1);
  }
  if (most == 0) throw ArgumentError(fmt::format("extents: {} are too many points", describe(box)));
  return box;
}

bool Box::contains(const Point& point) const noexcept {
  for (std::size_t a = 0; a < axes; ++a) {
    if (point[a] < low[a] || point[a] >= high[a]) return false;
  }
  return true;
}

Box Box::grown(const Point& width) const noexcept {
  Box result = *this;
  if (is_empty()) return result;
  for (std::size_t a = 0; a < axes; ++a) {
    result.low[a] -= width[a];
    result.high[a] += width[a];
  }
  return result;
}

Box Box::shifted(const Point& by) const noexcept {
  Box result = *this;
  for (std::size_t a = 0; a < axes; ++a) {
    result.low[a] += by[a];
    result.high[a] += by[a];
  }
  return result;
}

Box Box::intersection(const Box& other) const noexcept {
  Box result;
  for (std::size_t a = 0; a < axes; ++a) {
    result.low[a] = std::max(low[a], other.low[a]);
    result.high[a] = std::max(std::min(high[a], other.high[a]), result.low[a]);
  }
  return result;
}

std::string describe(const Box& box) {
  return fmt::format("{} x {} x {}", box.extent(0), box.extent(1), box.extent(2));
}

BoxPartition::BoxPartition(const Box& whole, const Parts& parts, int ranks)
    : BoxPartition(even_splits(whole, parts), ranks) {}

BoxPartition::BoxPartition(Splits splits, int ranks) : splits_(std::move(splits)), ranks_(ranks) {
  expect_at_least("ranks", ranks, 1);
  Index parts = 1;
  for (const std::vector<Index>& axis : splits_) {
    if (axis.size() < 2 || axis.front() != 0 || !std::is_sorted(axis.begin(), axis.end())) {
      throw ArgumentError(
          fmt::format("splits: are {}, expected two or more that ascend from 0", fmt::join(axis, ", ")));
    }
    parts *= static_cast<Index>(axis.size()) - 1;
    if (parts > ranks) throw ArgumentError(fmt::format("parts: there are more than the {} ranks", ranks));
  }
}

BoxPartition BoxPartition::for_ranks(const Box& whole, int ranks, int most_parts) {
  expect_at_least("most_parts", most_parts, 1);
  Parts best{1, 1, 1};
  double least = std::numeric_limits<double>::infinity();
  const auto most_of_axis = [&](int axis, Index left) { return std::clamp<Index>(whole.extent(axis), 1, left); };
  const auto largest = [&](int axis, Index parts) { return quotient_up(whole.extent(axis), parts); };
  const auto inner_sides = [](Index parts) { return 1 - 1 / static_cast<double>(parts); };  // of two, on average
  if (whole.is_empty()) return {whole, best, ranks};
  for (Index i = 1; i <= most_of_axis(0, most_parts); ++i) {
    for (Index j = 1; j <= most_of_axis(1, most_parts / i); ++j) {
      const Index k = most_of_axis(2, most_parts / (i * j));
      const auto a = static_cast<double>(largest(0, i)), b = static_cast<double>(largest(1, j));
      const auto c = static_cast<double>(largest(2, k));
      const double layers = 2 * (a * b * c) * (inner_sides(i) / a + inner_sides(j) / b + inner_sides(k) / c);
      if (!(a * b * c + layers < least)) continue;
      least = a * b * c + layers;
      best = {static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
    }
  }
  return {whole, best, ranks};
}

Box BoxPartition::whole() const noexcept { return {{}, {splits_[0].back(), splits_[1].back(), splits_[2].back()}}; }

BoxPartition::Parts BoxPartition::parts() const noexcept {
  Parts parts{};
  for (std::size_t a = 0; a < axes; ++a) parts[a] = static_cast<int>(splits_[a].size()) - 1;
  return parts;
}

int BoxPartition::number_of_parts() const noexcept {
  const Parts all = parts();
  return all[0] * all[1] * all[2];
}

// Part g is on rank ⌊g · ranks / parts⌋.
std::optional<BoxPartition::Parts> BoxPartition::part_of(int rank) const {
  const Index all = number_of_parts();
  const Index number = quotient_up(Index{rank} * all, Index{ranks_});
  if (number >= all || number * ranks_ / all != rank) return {};
  const auto [p, q, r] = parts();
  return Parts{static_cast<int>(number / r / q), static_cast<int>(number / r % q), static_cast<int>(number % r)};
}

int BoxPartition::rank_of(const Parts& part) const noexcept {
  const auto [p, q, r] = parts();
  const Index number = (Index{part[0]} * q + part[1]) * r + part[2];
  return static_cast<int>(number * ranks_ / number_of_parts());
}

Box BoxPartition::box(int rank) const {
  const std::optional<Parts> part = part_of(rank);
  return part ? box(*part) : Box{};
}

Box BoxPartition::box(const Parts& part) const {
  Box result;
  for (std::size_t a = 0; a < axes; ++a) {
    result.low[a] = splits_[a][at(part[a])];
    result.high[a] = splits_[a][at(part[a]) + 1];
  }
  return result;
}

int BoxPartition::owner_of(const Point& point) const {
  PLAIT_ASSERT(whole().contains(point), "points of the box have owners");
  Parts part{};
  for (std::size_t a = 0; a < axes; ++a) part[a] = part_holding(splits_[a], point[a]);
  return rank_of(part);
}

BoxPartition BoxPartition::coarsened(const Coarsening& how) const {
  Splits coarse = splits_;
  for (std::size_t a = 0; a < axes; ++a) {
    if (!how.halves[a]) continue;
    for (Index& split : coarse[a]) split = (split + 1 - how.first[a]) / 2;
  }
  return {std::move(coarse), ranks_};
}

std::vector<AxisRun> axis_runs(std::span<const Index> source, std::span<const Index> target, Index width,
                               bool is_periodic) {
  PLAIT_ASSERT(source.back() == target.back() && width >= 0, "two cuts of one axis");
  std::vector<AxisRun> runs;
  for (std::size_t part = 0; part + 1 < target.size(); ++part) {
    const Index begin = target[part], end = target[part + 1];
    if (begin == end) continue;
    const Index below = is_periodic ? begin - width : std::max<Index>(begin - width, 0);
    const Index above = is_periodic ? end + width : std::min(end + width, source.back());
    AxisRun run{0, static_cast<int>(part), true, 0, 0, 0};
    append_runs(source, run, below, begin, runs);
    run.is_ghost = false;
    append_runs(source, run, begin, end, runs);
    run.is_ghost = true;
    append_runs(source, run, end, above, runs);
  }
  return runs;
}

}  // namespace plait::layout
