#include "random_axis.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plait::test {

namespace {

AxisPair random_cyclic(Dice& dice, Index extent) {
  const Index block = dice.between(1, dice.maybe(20) ? 100 : 8);
  const Index parts = dice.between(1, dice.maybe(10) ? 90 : 5);
  const Index first = dice.between(0, parts - 1);
  std::vector<Index> part(at(extent));
  for (Index i = 0; i < extent; ++i) part[at(i)] = (i / block + first) % parts;
  return {layout::Axis::cyclic(extent, block, parts, first), NaiveAxis::of(part, parts),
          fmt::format("cyclic({}, {}, {}, {})", extent, block, parts, first)};
}

AxisPair random_even(Dice& dice, Index extent) {
  const Index parts = dice.between(1, dice.maybe(20) ? 90 : 6);
  std::vector<Index> part;
  for (Index p = 0; p < parts; ++p) part.insert(part.end(), at(extent / parts + (p < extent % parts ? 1 : 0)), p);
  return {layout::Axis::even(extent, parts), NaiveAxis::of(part, parts), fmt::format("even({}, {})", extent, parts)};
}

AxisPair random_cut(Dice& dice, Index extent) {
  std::vector<Index> splits{0, extent};
  for (Index i = dice.between(0, 12); i > 0; --i) splits.push_back(dice.between(0, extent));
  std::ranges::sort(splits);
  const Index parts = static_cast<Index>(splits.size()) - 1;
  std::vector<Index> part;
  for (Index p = 0; p < parts; ++p) part.insert(part.end(), at(splits[at(p + 1)] - splits[at(p)]), p);
  return {layout::Axis::cut(splits), NaiveAxis::of(part, parts), fmt::format("cut({})", fmt::join(splits, ", "))};
}

}  // namespace

NaiveAxis NaiveAxis::of(std::vector<Index> part, Index parts) {
  NaiveAxis axis;
  axis.extents.assign(at(parts), 0);
  axis.skipped.assign(at(parts), 0);
  for (const Index p : part) axis.local.push_back(axis.extents[at(p)]++);
  axis.part = std::move(part);
  return axis;
}

NaiveAxis NaiveAxis::sub(Index begin, Index end) const {
  NaiveAxis range = of({part.begin() + begin, part.begin() + end}, parts());
  range.skipped = skipped;
  for (Index i = 0; i < begin; ++i) ++range.skipped[at(part[at(i)])];
  return range;
}

AxisPair random_axis(Dice& dice, Index extent) {
  std::vector<Index> margins;  // before and after the range, outermost first
  Index whole = extent;
  while (dice.maybe(40)) {
    margins.push_back(dice.between(0, 20));
    margins.push_back(dice.between(0, 20));
    whole += margins.back() + margins[margins.size() - 2];
  }
  const Index kind = dice.between(0, 3);
  AxisPair pair = kind == 0   ? random_even(dice, whole)
                  : kind == 1 ? random_cut(dice, whole)
                              : random_cyclic(dice, whole);
  for (std::size_t i = 0; i < margins.size(); i += 2) {
    const Index begin = margins[i];
    const Index end = pair.naive.extent() - margins[i + 1];
    pair = {pair.axis.sub(begin, end), pair.naive.sub(begin, end),
            fmt::format("{}.sub({}, {})", pair.made, begin, end)};
  }
  return pair;
}

}  // namespace plait::test
