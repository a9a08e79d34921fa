#include "plait/layout/common_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/layout/overlay.hpp"

namespace plait::layout {

namespace {

// Wide enough for products of any two sizes.
__extension__ typedef __int128 Wide;                   // NOLINT(modernize-use-using): no extension of it is one
__extension__ typedef unsigned __int128 UnsignedWide;  // NOLINT(modernize-use-using)

bool is_cyclic(const Axis& axis) { return axis.cutting() == Cutting::cyclic && axis.parts() > 1; }

Index remainder(Index value, Index modulus) {
  const Index rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

/// Σ floor((step·k + start) / modulus) over 0 <= k < count, modulo 2^64, by Euclid's algorithm.
/// \pre  all >= 0, modulus >= 1
std::uint64_t sum_of_floors(std::uint64_t count, std::uint64_t modulus, std::uint64_t step, std::uint64_t start) {
  std::uint64_t sum = 0;
  while (count > 0) {
    const std::uint64_t pairs = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
    sum += pairs * (step / modulus) + count * (start / modulus);
    step %= modulus;
    start %= modulus;
    const auto highest = static_cast<UnsignedWide>(step) * count + start;
    if (highest < modulus) break;
    count = static_cast<std::uint64_t>(highest / modulus);
    start = static_cast<std::uint64_t>(highest % modulus);
    std::swap(modulus, step);
  }
  return sum;
}

/// The elements x of an axis for which (x - start) mod period < block: what one part of a cyclic axis holds.
struct Comb {
  Index start;  ///< 0 <= start < period
  Index block;
  Index period;
};

/// Nothing where the period is too long for an Index.
std::optional<Comb> comb_of(const Axis& axis, Index part) {
  Comb comb{0, axis.block(), 0};
  if (__builtin_mul_overflow(axis.block(), axis.parts(), &comb.period)) return std::nullopt;
  const Index phase = remainder(part - axis.first_part(), axis.parts());
  comb.start = remainder(phase * axis.block() - axis.offset() % comb.period, comb.period);
  return comb;
}

/// After how many elements two of them meet as they did at first.
std::optional<Index> common_period(Index a, Index b) {
  Index common = 0;
  if (__builtin_mul_overflow(a / std::gcd(a, b), b, &common)) return std::nullopt;
  return common;
}

Index overlap(Index begin, Index end, Index other_begin, Index other_end) {
  return std::max(Index{0}, std::min(end, other_end) - std::max(begin, other_begin));
}

/// What two combs have in common in one common period: the pairs of an element of a block of each that are congruent
/// modulo the greatest common divisor of the periods, each of which is one x, by the Chinese remainder theorem.
Index common_in_period(const Comb& a, const Comb& b) {
  const Index g = std::gcd(a.period, b.period);
  const Index distance = remainder(b.start % g - a.start % g, g);
  const Index left_of_a = a.block % g;
  const Index left_of_b = b.block % g;
  const Index rest = overlap(0, left_of_a, distance, distance + left_of_b) +
                     overlap(0, left_of_a, distance - g, distance - g + left_of_b);
  return a.block * (b.block / g) + a.block / g * left_of_b + rest;
}

/// What two combs have in common below `end`: a sum of floors for each element of a block of `a`.
Index common_below(const Comb& a, const Comb& b, Index end) {
  std::uint64_t count = 0;
  const auto modulus = static_cast<std::uint64_t>(b.period);
  for (Index i = 0; i < a.block; ++i) {
    const Index first = a.start < a.period - i ? a.start + i : a.start - (a.period - i);
    if (first >= end) continue;
    const auto blocks = static_cast<std::uint64_t>((end - 1 - first) / a.period + 1);
    const auto from = modulus + static_cast<std::uint64_t>(remainder(first % b.period - b.start, b.period));
    // (x - start) mod period < block wherever these two floors differ, by one then.
    count += sum_of_floors(blocks, modulus, static_cast<std::uint64_t>(a.period), from) -
             sum_of_floors(blocks, modulus, static_cast<std::uint64_t>(a.period),
                           from - static_cast<std::uint64_t>(b.block));
  }
  return static_cast<Index>(count);
}

/// Block by block of what part_of_a holds.
Index common_by_blocks(const Axis& a, Index part_of_a, const Axis& b, Index part_of_b) {
  Index length = 0;
  a.for_each_segment(part_of_a, [&](const Segment& held) {
    length += b.sub(held.global, held.global + held.length).local_extent(part_of_b);
  });
  return length;
}

Index blocks_of_part(const Axis& axis) { return axis.extent() / axis.block() / axis.parts() + 2; }

Index common_of_cyclic(const Axis& a, Index part_of_a, const Axis& b, Index part_of_b) {
  constexpr Index steps_of_a_floor = 64;  // in blocks that could be looked at meanwhile
  const auto cost_of_floors = [](const Axis& axis) {
    return axis.block() < INT64_MAX / steps_of_a_floor ? axis.block() * steps_of_a_floor : INT64_MAX;
  };
  const auto comb_a = comb_of(a, part_of_a);
  const auto comb_b = comb_of(b, part_of_b);
  const Index blocks = std::min(blocks_of_part(a), blocks_of_part(b));
  if (!comb_a || !comb_b || blocks <= std::min(cost_of_floors(a), cost_of_floors(b))) {
    return blocks_of_part(a) <= blocks_of_part(b) ? common_by_blocks(a, part_of_a, b, part_of_b)
                                                  : common_by_blocks(b, part_of_b, a, part_of_a);
  }
  return a.block() <= b.block() ? common_below(*comb_a, *comb_b, a.extent())
                                : common_below(*comb_b, *comb_a, a.extent());
}

Index parts_with_elements(const Axis& axis) {
  if (axis.extent() == 0) return 0;
  if (axis.cutting() == Cutting::cyclic) {
    const Index last = (axis.offset() + axis.extent() - 1) / axis.block();
    return std::min(axis.parts(), last - axis.offset() / axis.block() + 1);
  }
  Index count = 0;
  for (Index part = 0; part < axis.parts(); ++part) count += axis.local_extent(part) > 0 ? 1 : 0;
  return count;
}

/// Neither is cyclic, so that parts meet once: where the pieces of both cross.
Index crossings_of_contiguous(const Axis& a, const Axis& b) {
  Index count = 0;
  for (Index at = 0; at < a.extent(); ++count) {
    const Segment of_a = a.piece_at(at).segment;
    const Segment of_b = b.piece_at(at).segment;
    at = std::min(of_a.global + of_a.length, of_b.global + of_b.length);
  }
  return count;
}

Index pairs_with_contiguous(const Axis& contiguous, const Axis& cyclic) {
  Index count = 0;
  for (Index part = 0; part < contiguous.parts(); ++part) {
    contiguous.for_each_segment(part, [&](const Segment& held) {
      count += parts_with_elements(cyclic.sub(held.global, held.global + held.length));
    });
  }
  return count;
}

/// Two cyclic axes in the largest unit of length that all their cuts, and the beginning, are multiples of.
struct CyclicPair {
  struct Side {
    Index block;
    Index parts;
    Index first_part;
    Index offset;
    Index period;
    [[nodiscard]] Index start_of(Index part) const {
      return remainder(remainder(part - first_part, parts) * block - offset % period, period);
    }
    [[nodiscard]] Index part_at(Index x) const {
      return static_cast<Index>((static_cast<Wide>(offset) + x) / block % parts + first_part) % parts;
    }
    /// Cuts in [1, length).
    [[nodiscard]] Index cuts(Index length) const { return (offset % block + length - 1) / block; }
  };
  Side a, b;
  Index extent;
};

std::optional<CyclicPair> cyclic_pair(const Axis& a, const Axis& b) {
  const auto comb_a = comb_of(a, 0);
  const auto comb_b = comb_of(b, 0);
  if (!comb_a || !comb_b) return std::nullopt;
  CyclicPair pair{{a.block(), a.parts(), a.first_part(), a.offset(), 0},
                  {b.block(), b.parts(), b.first_part(), b.offset(), 0},
                  a.extent()};
  const Index unit = std::gcd(a.block(), b.block());
  const Index skipped = a.offset() % unit;
  if (b.offset() % unit == skipped) {
    for (CyclicPair::Side* side : {&pair.a, &pair.b}) {
      side->block /= unit;
      side->offset /= unit;
    }
    pair.extent = (skipped + a.extent() - 1) / unit + 1;
  }
  pair.a.period = pair.a.block * pair.a.parts;
  pair.b.period = pair.b.block * pair.b.parts;
  return pair;
}

/// Of a whole common period: parts meet where their blocks do, modulo the greatest common divisor of the periods.
Index pairs_by_residues(const CyclicPair& pair, Index g) {
  const auto& [a, b, extent] = pair;
  if (a.block > g - b.block) return a.parts * b.parts;
  std::vector<Index> starts;
  starts.reserve(static_cast<std::size_t>(b.parts));
  for (Index part = 0; part < b.parts; ++part) starts.push_back(b.start_of(part) % g);
  std::sort(starts.begin(), starts.end());
  const auto below = [&](Index bound) {
    return std::lower_bound(starts.begin(), starts.end(), bound) - starts.begin();
  };
  Index count = 0;
  for (Index part = 0; part < a.parts; ++part) {
    const Index start = a.start_of(part) % g;
    const Index begin = start - b.block + 1;  // of b's blocks that meet this one, modulo g
    const Index end = start + a.block;
    count += below(end) - below(begin);
    if (begin < 0) count += b.parts - below(begin + g);
    if (end > g) count += below(end - g);
  }
  return count;
}

/// Where both axes are cut at the same place in [1, extent).
/// \pre  the blocks have no common divisor, or never meet
Index cuts_in_common(const CyclicPair& pair) {
  const auto& [a, b, extent] = pair;
  if (std::gcd(a.block, b.block) != 1) return 0;
  // x = k·a.block - a.offset, where b.block divides x + b.offset: k ≡ (a.offset - b.offset) / a.block.
  Index inverse = 0;
  for (Index old_rest = a.block % b.block, rest = b.block, old = 1, next = 0;;) {
    if (rest == 0) {
      inverse = remainder(old, b.block);
      break;
    }
    const Index quotient = old_rest / rest;
    old_rest = std::exchange(rest, old_rest - quotient * rest);
    old = std::exchange(next, old - quotient * next);
  }
  const Index wanted = remainder(a.offset % b.block - b.offset % b.block, b.block);
  const auto k = static_cast<Index>(static_cast<Wide>(wanted) * inverse % b.block);
  const Wide first = static_cast<Wide>(k) * a.block - a.offset;  // one of them, modulo both blocks
  const Wide both = static_cast<Wide>(a.block) * b.block;
  Wide least = first % both;
  if (least <= 0) least += both;
  return least >= extent ? 0 : static_cast<Index>((extent - 1 - least) / both + 1);
}

Index pairs_of_cyclic(const Axis& a, const Axis& b) {
  const auto every_meeting = [&] {
    Index count = 0;
    for (Index part = 0; part < b.parts(); ++part) count += AxisOverlay::of_target(a, b, part).size();
    return count;
  };
  const auto pair = cyclic_pair(a, b);
  if (!pair) return every_meeting();
  const Index g = std::gcd(pair->a.period, pair->b.period);
  const auto period = common_period(pair->a.period, pair->b.period);
  if (period && *period <= pair->extent) return pairs_by_residues(*pair, g);
  if (pair->a.block > g - pair->b.block + 1) return every_meeting();
  // Every pair meets once in a common period, so that each piece is of another pair, but for the last and the first
  // where they are parts of one.
  const Index last = pair->extent - 1;
  const Index cuts = pair->a.cuts(pair->extent) + pair->b.cuts(pair->extent) - cuts_in_common(*pair);
  const bool closes =
      cuts > 0 && pair->a.part_at(0) == pair->a.part_at(last) && pair->b.part_at(0) == pair->b.part_at(last);
  return cuts + 1 - (closes ? 1 : 0);
}

}  // namespace

Index common_length(const Axis& a, Index part_of_a, const Axis& b, Index part_of_b) {
  PLAIT_ASSERT(a.extent() == b.extent(), "both cut the same extent");
  if (a == b) return part_of_a == part_of_b ? a.local_extent(part_of_a) : 0;
  if (!is_cyclic(a)) return common_by_blocks(a, part_of_a, b, part_of_b);
  if (!is_cyclic(b)) return common_by_blocks(b, part_of_b, a, part_of_a);
  const auto comb_a = comb_of(a, part_of_a);
  const auto comb_b = comb_of(b, part_of_b);
  const auto period = comb_a && comb_b ? common_period(comb_a->period, comb_b->period) : std::nullopt;
  if (!period || *period > a.extent()) return common_of_cyclic(a, part_of_a, b, part_of_b);
  const Index rest = a.extent() % *period;
  return a.extent() / *period * common_in_period(*comb_a, *comb_b) +
         common_of_cyclic(a.sub(0, rest), part_of_a, b.sub(0, rest), part_of_b);
}

Index pairs_in_common(const Axis& a, const Axis& b) {
  PLAIT_ASSERT(a.extent() == b.extent(), "both cut the same extent");
  if (a.extent() == 0) return 0;
  if (a == b || b.parts() == 1) return parts_with_elements(a);
  if (a.parts() == 1) return parts_with_elements(b);
  if (is_cyclic(a) && is_cyclic(b)) return pairs_of_cyclic(a, b);
  if (is_cyclic(a)) return pairs_with_contiguous(b, a);
  if (is_cyclic(b)) return pairs_with_contiguous(a, b);
  return crossings_of_contiguous(a, b);
}

}  // namespace plait::layout
