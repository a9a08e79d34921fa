#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/axis.hpp"

namespace plait::layout {

/// `length` elements that lie side by side in the storage of a source part and of a target part. `global` is the index
/// of the first; where the storage of both parts skips the same elements, the elements that follow it in a run are not
/// its neighbours in the axis.
struct Run {
  Index global = 0;
  Index source_local = 0;
  Index target_local = 0;
  Index length = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

/// What my part has in common with a part of the other axis: `length` elements in all, in as few runs as there can be,
/// in increasing `global`, `source_local` and `target_local`.
struct SharedPieces {
  Index part = 0;
  Index length = 0;
  std::span<const Run> runs;
};

/// The overlay of two axes of the same extent, seen from one part of one of them: for each part of the other axis that
/// has elements in common with mine, which. Sorted by the other part's number. The overlay of two tilings is the
/// product of the overlays of their rows and their columns.
///
/// Time and memory grow with the segments of my part and the segments of the other axis that cross them, whatever the
/// extent and the number of parts of either axis. Source part s and target part t find the same runs from either side.
///
/// \throws ShapeMismatch  naming both extents if they differ
/// \throws ArgumentError  if there is no such part
/// Source: Kabić et al., "COSTA", section 5, grid overlay.
class AxisOverlay {
 public:
  /// What a part of the source has in common with each part of the target.
  [[nodiscard]] static AxisOverlay of_source(const Axis& source, Index source_part, const Axis& target);

  /// What a part of the target has in common with each part of the source.
  [[nodiscard]] static AxisOverlay of_target(const Axis& source, const Axis& target, Index target_part);

  [[nodiscard]] Index size() const noexcept { return static_cast<Index>(shared_.size()); }
  [[nodiscard]] const SharedPieces& operator[](Index i) const { return shared_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] auto begin() const noexcept { return shared_.begin(); }
  [[nodiscard]] auto end() const noexcept { return shared_.end(); }

  /// Where the pieces shared with this part of the other axis are, or -1 if there are none: O(log size).
  [[nodiscard]] Index find(Index part) const noexcept;

 private:
  AxisOverlay(const Axis& mine, Index my_part, const Axis& other, bool mine_is_source);

  std::shared_ptr<const std::vector<Run>> runs_;  // shared, so that the spans into it stay true in copies
  std::vector<SharedPieces> shared_;
};

}  // namespace plait::layout
