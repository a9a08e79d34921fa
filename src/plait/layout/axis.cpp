#include "plait/layout/axis.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::layout {

namespace {

void check_at_least(const char* name, Index value, Index least) {
  if (value < least) throw LayoutError(fmt::format("{} is {}, expected at least {}", name, value, least));
}

/// (a + b) mod n for 0 <= a, b < n, where a + b may be too large for an Index.
Index add_modulo(Index a, Index b, Index n) { return a < n - b ? a + b : a - (n - b); }

/// The phase of a part's blocks, which is also the first of them, when blocks are dealt beginning with `first_part`.
Index phase_of(Index part, Index first_part, Index parts) {
  return part >= first_part ? part - first_part : part + (parts - first_part);
}

}  // namespace

Axis::Axis(std::variant<Cyclic, Even, Listed> form, Index parts, Index extent)
    : form_(std::move(form)), parts_(parts), begin_(0), end_(extent) {}

Axis Axis::cyclic(Index extent, Index block, Index parts, Index first_part) {
  check_at_least("the extent", extent, 0);
  check_at_least("the block", block, 1);
  check_at_least("the number of parts", parts, 1);
  if (first_part < 0 || first_part >= parts) {
    throw LayoutError(fmt::format("the part of the first block is {}, expected one of the {} parts 0 to {}", first_part,
                                  parts, parts - 1));
  }
  return {Cyclic{block, first_part}, parts, extent};
}

Axis Axis::even(Index extent, Index parts) {
  check_at_least("the extent", extent, 0);
  check_at_least("the number of parts", parts, 1);
  return {Even{extent}, parts, extent};
}

Axis Axis::cut(std::vector<Index> splits) {
  if (splits.size() < 2) throw LayoutError(fmt::format("there are {} splits, expected at least 2", splits.size()));
  if (splits.front() != 0) throw LayoutError(fmt::format("split 0 is {}, expected 0", splits.front()));
  for (std::size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] < splits[i - 1]) {
      throw LayoutError(
          fmt::format("split {} is {}, expected at least split {}, which is {}", i, splits[i], i - 1, splits[i - 1]));
    }
  }
  const auto parts = static_cast<Index>(splits.size()) - 1;
  const Index extent = splits.back();
  return {Listed{std::make_shared<const std::vector<Index>>(std::move(splits))}, parts, extent};
}

void Axis::check_part(Index part) const {
  if (part < 0 || part >= parts_) {
    throw ArgumentError(fmt::format("the part is {}, expected one of the {} parts 0 to {}", part, parts_, parts_ - 1));
  }
}

void Axis::check_index(Index global) const {
  if (global < 0 || global >= extent()) {
    throw ArgumentError(fmt::format("the index is {}, expected at least 0 and less than {}", global, extent()));
  }
}

Segment Axis::bounds(Index part) const {
  if (const auto* even = std::get_if<Even>(&form_)) {
    const Index quotient = even->extent / parts_;
    const Index remainder = even->extent % parts_;
    return {part * quotient + std::min(part, remainder), 0, quotient + (part < remainder ? 1 : 0)};
  }
  const auto& splits = *std::get<Listed>(form_).splits;
  const auto i = static_cast<std::size_t>(part);
  return {splits[i], 0, splits[i + 1] - splits[i]};
}

Index Axis::part_at(Index position) const {
  if (parts_ == 1) return 0;
  if (const auto* cyclic = std::get_if<Cyclic>(&form_)) {
    return add_modulo(position / cyclic->block % parts_, cyclic->first_part, parts_);
  }
  if (const auto* even = std::get_if<Even>(&form_)) {
    const Index quotient = even->extent / parts_;
    const Index remainder = even->extent % parts_;
    const Index in_longer_parts = remainder * (quotient + 1);
    return position < in_longer_parts ? position / (quotient + 1) : remainder + (position - in_longer_parts) / quotient;
  }
  const auto& splits = *std::get<Listed>(form_).splits;
  return std::distance(splits.begin(), std::upper_bound(splits.begin(), splits.end(), position)) - 1;
}

Index Axis::held_before(Index part, Index position) const {
  const auto* cyclic = std::get_if<Cyclic>(&form_);
  if (!cyclic) {
    const Segment held = bounds(part);
    return std::clamp<Index>(position - held.global, 0, held.length);
  }
  const Index block = position / cyclic->block;
  const Index round = block / parts_;
  const Index within = position % cyclic->block;
  return skipped(Cyclic{cyclic->block, cyclic->first_part, round, block % parts_, within},
                 phase_of(part, cyclic->first_part, parts_));
}

Index Axis::skipped(const Cyclic& cyclic, Index phase) noexcept {
  const Index of_this_round = phase < cyclic.begin_phase    ? cyclic.block
                              : phase == cyclic.begin_phase ? cyclic.begin_within
                                                            : 0;
  return cyclic.begin_round * cyclic.block + of_this_round;
}

Axis::Pieces Axis::pieces_of(Index part) const {
  if (extent() == 0) return {};
  if (parts_ == 1) return {begin_, extent(), 0, 1};
  const auto* cyclic = std::get_if<Cyclic>(&form_);
  if (!cyclic) {
    const Segment held = bounds(part);
    const bool crosses = held.length > 0 && held.global < end_ && held.global + held.length > begin_;
    return {held.global, held.length, 0, crosses ? 1 : 0};
  }
  const Index earliest = begin_ / cyclic->block;
  const Index last = (end_ - 1) / cyclic->block;
  const Index wait = phase_of(part, part_at(begin_), parts_);
  if (wait > last - earliest) return {};
  const Index count = (last - earliest - wait) / parts_ + 1;
  const Index stride = count > 1 ? parts_ * cyclic->block : 0;
  return {(earliest + wait) * cyclic->block, cyclic->block, stride, count};
}

Index Axis::local_extent(Index part) const {
  check_part(part);
  return held_before(part, end_) - skipped_before(part);
}

Index Axis::skipped_before(Index part) const {
  check_part(part);
  const auto* cyclic = std::get_if<Cyclic>(&form_);
  return cyclic ? skipped(*cyclic, phase_of(part, cyclic->first_part, parts_)) : held_before(part, begin_);
}

Index Axis::part_of(Index global) const {
  check_index(global);
  return part_at(begin_ + global);
}

Index Axis::local_of(Index global) const {
  const Segment segment = piece_at(global).segment;
  return segment.local + (global - segment.global);
}

Index Axis::global_of(Index part, Index local) const {
  const Index held = local_extent(part);
  if (local < 0 || local >= held) {
    throw ArgumentError(fmt::format("the local index is {}, expected at least 0 and less than {}, which part {} holds",
                                    local, held, part));
  }
  const Index original_local = skipped_before(part) + local;
  const auto* cyclic = std::get_if<Cyclic>(&form_);
  if (!cyclic) return bounds(part).global + original_local - begin_;
  const Index block = phase_of(part, cyclic->first_part, parts_) + original_local / cyclic->block * parts_;
  return block * cyclic->block + original_local % cyclic->block - begin_;
}

Piece Axis::piece_at(Index global) const {
  check_index(global);
  if (parts_ == 1) return {0, {0, 0, extent()}};
  const Index position = begin_ + global;
  const auto* cyclic = std::get_if<Cyclic>(&form_);
  if (!cyclic) {
    const Index part = part_at(position);
    const Segment held = bounds(part);
    return {part, clipped(held.global, held.length)};
  }
  // The inner loop of planning: two divisions.
  const Index block = position / cyclic->block;
  const Index round = block / parts_;
  const Index phase = block - round * parts_;
  Segment segment = clipped(block * cyclic->block, cyclic->block);
  const Index cut_off = begin_ + segment.global - block * cyclic->block;
  segment.local = round * cyclic->block + cut_off - skipped(*cyclic, phase);
  return {add_modulo(phase, cyclic->first_part, parts_), segment};
}

Axis Axis::sub(Index begin, Index end) const {
  if (begin < 0 || end < begin || end > extent()) {
    throw ArgumentError(fmt::format("the range is [{}, {}), expected a part of [0, {})", begin, end, extent()));
  }
  Axis range = *this;
  range.end_ = begin_ + end;
  range.begin_ = begin_ + begin;
  if (auto* cyclic = std::get_if<Cyclic>(&range.form_)) {
    const Index block = range.begin_ / cyclic->block;
    cyclic->begin_round = block / parts_;
    cyclic->begin_phase = block % parts_;
    cyclic->begin_within = range.begin_ % cyclic->block;
  }
  return range;
}

Index Axis::block() const noexcept {
  const auto* cyclic = std::get_if<Cyclic>(&form_);
  return cyclic ? cyclic->block : 0;
}

Index Axis::first_part() const noexcept {
  const auto* cyclic = std::get_if<Cyclic>(&form_);
  return cyclic ? cyclic->first_part : 0;
}

Index Axis::original_extent() const noexcept {
  if (const auto* even = std::get_if<Even>(&form_)) return even->extent;
  if (const auto* listed = std::get_if<Listed>(&form_)) return listed->splits->back();
  return end_;
}

}  // namespace plait::layout
