#pragma once

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::layout {

/// `length` neighbours of an axis that are neighbours in their part's storage too. They begin at index `global` of the
/// axis and at index `local` of the part.
struct Segment {
  Index global = 0;
  Index local = 0;
  Index length = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// A maximal segment and the part that holds it.
struct Piece {
  Index part = 0;
  Segment segment;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// How an axis is cut: into blocks dealt in turn, into parts of nearly equal length, or anyhow.
enum class Cutting : unsigned char { cyclic, even, listed };

/// One extent of a matrix, cut into contiguous pieces, each of which belongs to one of `parts()` parts. A part stores
/// its pieces one after the other in increasing order; this is ScaLAPACK's local index.
///
/// A value that is cheap to copy. Cyclic and even axes are closed formulas: O(1) memory, O(1) for every question; the
/// splits of a cut axis are shared between copies and searched in O(log parts). Nothing overflows for any extent, block
/// and number of parts that `Index` can hold.
///
/// \throws LayoutError    from the makers, naming the number that can't be
/// \throws ArgumentError  from the questions, if a part or an index does not exist
class Axis {
 public:
  /// Block k, elements [k·block, (k+1)·block), belongs to part (k + first_part) mod parts.
  ///
  /// \pre  extent >= 0, block >= 1, parts >= 1, 0 <= first_part < parts
  /// Source: ScaLAPACK's block-cyclic distribution; first_part is its RSRC or CSRC.
  [[nodiscard]] static Axis cyclic(Index extent, Index block, Index parts, Index first_part = 0);

  /// Every part is contiguous; the first `extent mod parts` parts hold one element more than the others.
  ///
  /// \pre  extent >= 0, parts >= 1
  [[nodiscard]] static Axis even(Index extent, Index parts);

  /// Part i holds [splits[i], splits[i+1]); it may be empty.
  ///
  /// \pre  splits.size() >= 2, splits[0] == 0, splits[i] <= splits[i+1]
  [[nodiscard]] static Axis cut(std::vector<Index> splits);

  [[nodiscard]] Index extent() const noexcept { return end_ - begin_; }
  [[nodiscard]] Index parts() const noexcept { return parts_; }

  /// The number of elements that a part holds (ScaLAPACK's NUMROC).
  [[nodiscard]] Index local_extent(Index part) const;

  /// The part that holds an element, and the element's index in it.
  [[nodiscard]] Index part_of(Index global) const;
  [[nodiscard]] Index local_of(Index global) const;

  /// The index in the axis of the element that a part holds at `local`.
  ///
  /// \pre  0 <= local < local_extent(part)
  [[nodiscard]] Index global_of(Index part, Index local) const;

  /// The maximal segment in which an element lies.
  [[nodiscard]] Piece piece_at(Index global) const;

  /// The elements [begin, end), renumbered from 0. Parts keep their numbers, some may become empty; local indices
  /// count from the part's first element inside the range. As cheap as the axis itself, and a range of a range is one.
  ///
  /// \pre  0 <= begin <= end <= extent()
  [[nodiscard]] Axis sub(Index begin, Index end) const;

  /// How many elements of the part lie before the range that `sub` took: what a pointer into the storage of the
  /// original axis has to be moved by. 0 if nothing was taken.
  [[nodiscard]] Index skipped_before(Index part) const;

  /// Calls f(Segment) for the part's maximal segments in increasing order, empty ones never: O(1) each.
  template <class F>
  void for_each_segment(Index part, F&& f) const;

  /// How the original axis was cut, and for a cyclic one the numbers that it was made with (block 0 for others).
  [[nodiscard]] Cutting cutting() const noexcept { return static_cast<Cutting>(form_.index()); }
  [[nodiscard]] Index block() const noexcept;
  [[nodiscard]] Index first_part() const noexcept;

  /// Where the range that `sub` took begins, and an extent of an original axis that gives this axis by
  /// `sub(offset(), offset() + extent())`; for a cyclic axis, where many would, the smallest.
  [[nodiscard]] Index offset() const noexcept { return begin_; }
  [[nodiscard]] Index original_extent() const noexcept;

  /// Equal axes were made alike and answer every question alike. Axes that were made in different ways may be unequal
  /// although they are cut at the same places.
  friend bool operator==(const Axis&, const Axis&) = default;

 private:
  /// Block k is the `k / parts`-th of its part (its round) and comes `k mod parts`-th in the round (its phase).
  struct Cyclic {
    Index block;
    Index first_part;
    Index begin_round = 0;  // of the block in which the range begins; kept to save divisions
    Index begin_phase = 0;
    Index begin_within = 0;  // and how far inside of it
    friend bool operator==(const Cyclic&, const Cyclic&) = default;
  };
  struct Even {
    Index extent;
    friend bool operator==(const Even&, const Even&) = default;
  };
  struct Listed {
    std::shared_ptr<const std::vector<Index>> splits;
    friend bool operator==(const Listed& a, const Listed& b) { return a.splits == b.splits || *a.splits == *b.splits; }
  };

  /// `count` pieces of the original axis that begin at `first`, `first + stride`... and cross the range; the first and
  /// the last may reach out of it.
  struct Pieces {
    Index first = 0;
    Index length = 0;
    Index stride = 0;
    Index count = 0;
  };

  Axis(std::variant<Cyclic, Even, Listed> form, Index parts, Index extent);

  void check_part(Index part) const;
  void check_index(Index global) const;
  [[nodiscard]] Pieces pieces_of(Index part) const;
  /// What follows speaks of indices of the original axis.
  [[nodiscard]] Index part_at(Index position) const;
  [[nodiscard]] Index held_before(Index part, Index position) const;
  [[nodiscard]] static Index skipped(const Cyclic& cyclic, Index phase) noexcept;
  [[nodiscard]] Segment bounds(Index part) const;
  [[nodiscard]] Segment clipped(Index first, Index length) const noexcept {
    const Index from = std::max(first, begin_);
    const Index to = length > end_ - first ? end_ : first + length;
    return Segment{from - begin_, 0, to - from};
  }

  std::variant<Cyclic, Even, Listed> form_;
  Index parts_;
  Index begin_;
  Index end_;
};

template <class F>
void Axis::for_each_segment(Index part, F&& f) const {
  check_part(part);
  const Pieces pieces = pieces_of(part);
  Index local = 0;
  for (Index i = 0; i < pieces.count; ++i) {
    Segment segment = clipped(pieces.first + i * pieces.stride, pieces.length);
    segment.local = local;
    local += segment.length;
    f(segment);
  }
}

}  // namespace plait::layout
