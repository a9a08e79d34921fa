#include "plait/layout/overlay.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::layout {

namespace {

struct TaggedRun {
  Index part;
  Run run;
};

void check_extents(const Axis& source, const Axis& target) {
  if (source.extent() == target.extent()) return;
  throw ShapeMismatch(fmt::format("the source has {} elements along an axis and the target {}, expected the same",
                                  source.extent(), target.extent()));
}

/// The pieces in which my part and the parts of the other axis cross, in increasing global index.
std::vector<TaggedRun> crossings(const Axis& mine, Index my_part, const Axis& other, bool mine_is_source) {
  std::vector<TaggedRun> runs;
  if (mine.cutting() != Cutting::listed && mine == other) {
    // Every element stays where it is; this keeps the plan of a matrix onto its own layout O(1).
    const Index extent = mine.local_extent(my_part);
    if (extent > 0) runs.push_back({my_part, {mine.global_of(my_part, 0), 0, 0, extent}});
    return runs;
  }
  mine.for_each_segment(my_part, [&](const Segment& segment) {
    const Index end = segment.global + segment.length;
    for (Index at = segment.global; at < end;) {
      const auto [part, theirs] = other.piece_at(at);
      const Index length = std::min(end, theirs.global + theirs.length) - at;
      const Index my_local = segment.local + (at - segment.global);
      const Index their_local = theirs.local + (at - theirs.global);
      runs.push_back(
          {part, mine_is_source ? Run{at, my_local, their_local, length} : Run{at, their_local, my_local, length}});
      at += length;
    }
  });
  return runs;
}

/// Sorts by part, then by global index, in time and memory that follow the number of runs, not of parts.
void group_by_part(std::vector<TaggedRun>& runs, Index parts) {
  if (parts > static_cast<Index>(runs.size())) {
    std::ranges::sort(runs, [](const TaggedRun& a, const TaggedRun& b) {
      return a.part != b.part ? a.part < b.part : a.run.global < b.run.global;
    });
    return;
  }
  std::vector<std::size_t> place(static_cast<std::size_t>(parts) + 1, 0);
  for (const TaggedRun& tagged : runs) ++place[static_cast<std::size_t>(tagged.part) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<TaggedRun> grouped(runs.size());
  for (const TaggedRun& tagged : runs) grouped[place[static_cast<std::size_t>(tagged.part)]++] = tagged;
  runs = std::move(grouped);
}

bool continues(const Run& earlier, const Run& later) {
  return earlier.source_local + earlier.length == later.source_local &&
         earlier.target_local + earlier.length == later.target_local;
}

}  // namespace

AxisOverlay::AxisOverlay(const Axis& mine, Index my_part, const Axis& other, bool mine_is_source) {
  std::vector<TaggedRun> tagged = crossings(mine, my_part, other, mine_is_source);
  group_by_part(tagged, other.parts());

  auto runs = std::make_shared<std::vector<Run>>();
  runs->reserve(tagged.size());
  std::vector<std::size_t> first_runs;
  for (const auto& [part, run] : tagged) {
    const bool same_part = !shared_.empty() && shared_.back().part == part;
    if (!same_part) {
      shared_.push_back({part, 0, {}});
      first_runs.push_back(runs->size());
    }
    shared_.back().length += run.length;
    if (same_part && continues(runs->back(), run)) {
      runs->back().length += run.length;
    } else {
      runs->push_back(run);
    }
  }
  runs->shrink_to_fit();
  first_runs.push_back(runs->size());
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    shared_[i].runs = std::span<const Run>(*runs).subspan(first_runs[i], first_runs[i + 1] - first_runs[i]);
  }
  runs_ = std::move(runs);
}

AxisOverlay AxisOverlay::of_source(const Axis& source, Index source_part, const Axis& target) {
  check_extents(source, target);
  return {source, source_part, target, true};
}

AxisOverlay AxisOverlay::of_target(const Axis& source, const Axis& target, Index target_part) {
  check_extents(source, target);
  return {target, target_part, source, false};
}

Index AxisOverlay::find(Index part) const noexcept {
  const auto found = std::ranges::lower_bound(shared_, part, {}, &SharedPieces::part);
  return found != shared_.end() && found->part == part ? found - shared_.begin() : -1;
}

}  // namespace plait::layout
