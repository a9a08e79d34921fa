#pragma once

#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/symm/options.hpp"

namespace plait::dense::symm {

/// The first and the last columns of a block.
enum class Half : unsigned char { first, last };

/// The columns [first, last) of a block: what is multiplied at a time and then moves on, in segments. These count the
/// block's elements, column-major.
struct Panel {
  Index first, last;
  collective::Stream stream;

  [[nodiscard]] bool is_empty() const noexcept { return stream.segments().empty(); }
  /// Elements.
  [[nodiscard]] Index begin() const noexcept { return is_empty() ? 0 : stream.segments().front().begin; }
  [[nodiscard]] Index end() const noexcept { return is_empty() ? 0 : stream.segments().back().end; }

  [[nodiscard]] schedule::Dependencies finals() const;
  [[nodiscard]] schedule::Dependencies finals_and_readers() const;
  /// Its elements are those that `operation` leaves.
  void becomes(schedule::OperationId operation);
  /// It comes where others are done after these.
  void overwrites(const schedule::Dependencies& others);
  void is_read_by(schedule::OperationId operation);

  template <class F>
  void for_each_segment(F f) {
    std::vector<collective::Segment> segments = stream.segments();
    for (collective::Segment& segment : segments) f(segment);
    stream = collective::Stream(stream.element_bytes(), std::move(segments));
  }
};
using Panels = std::vector<Panel>;

/// How blocks are cut into panels and these into segments: alike on all ranks.
class PanelCut {
 public:
  PanelCut(const Grid& mesh, Index element_bytes, Index segment_elements);

  struct Columns {
    Index first, last;
  };
  /// Of a block of so many columns: those of the first half, ⌈columns/2⌉, then those of the last one.
  [[nodiscard]] std::vector<Columns> panels(Index columns) const;
  [[nodiscard]] std::vector<Columns> panels(Index columns, Half half) const;

  /// Segments are numbered from 0 on, and set out one stage after the other.
  [[nodiscard]] Panels rectangle(Index rows, const std::vector<Columns>& panels, Index first_stage) const;
  /// What is not above the diagonal, but for the panels' own triangles: panels one behind the other.
  [[nodiscard]] Panels triangle(Index rows, const std::vector<Columns>& panels, Index first_stage) const;
  /// All panels, each half numbered for itself.
  [[nodiscard]] Panels halves(Index rows, Index columns, Index first_stage) const;

  /// Segments of any block, of its halves, and of what is summed up: halves or triangles.
  struct Most {
    Index of_block, of_half, of_sum;
  };
  [[nodiscard]] Most most(const Grid& mesh) const;

 private:
  [[nodiscard]] Panel panel(Columns columns, Index begin, Index end, Index first_stage, Index& number) const;

  Index element_bytes_;
  Index segment_elements_;
  Index width_;
};

}  // namespace plait::dense::symm
