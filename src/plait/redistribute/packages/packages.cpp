#include "plait/redistribute/packages/packages.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace plait::redistribute {

namespace {

using layout::AxisOverlay;
using layout::Layout;
using layout::TilePosition;

/// One direction of a panel, and where in the target's axis its elements are. A view.
class PackedAxis {
 public:
  /// \param part  of the target, that the runs are in
  PackedAxis(const layout::Axis& target, Index part, const PackedRuns& runs)
      : target_(&target), part_(part), runs_(&runs) {}

  [[nodiscard]] Index length() const noexcept { return runs_->length; }

  /// The run that has the element at this place, of all runs one behind the other.
  [[nodiscard]] std::size_t run_at(Index packed) const {
    const auto after = std::upper_bound(runs_->starts.begin(), runs_->starts.end(), packed);
    return static_cast<std::size_t>(after - runs_->starts.begin()) - 1;
  }

  [[nodiscard]] Index global_of(Index packed) const {
    const std::size_t k = run_at(packed);
    return target_->global_of(part_, runs_->runs[k].target_local + packed - runs_->starts[k]);
  }

  /// How many of the elements lie before this one of the axis, or any number beside it.
  [[nodiscard]] Index count_before(Index global) const {
    const Index in_part = target_->sub(0, std::clamp(global, Index{0}, target_->extent())).local_extent(part_);
    const auto beyond = std::partition_point(runs_->runs.begin(), runs_->runs.end(),
                                             [&](const layout::Run& run) { return run.target_local < in_part; });
    if (beyond == runs_->runs.begin()) return 0;
    const layout::Run& last = *(beyond - 1);
    const auto k = static_cast<std::size_t>(beyond - 1 - runs_->runs.begin());
    return runs_->starts[k] + std::min(last.length, in_part - last.target_local);
  }

 private:
  const layout::Axis* target_;
  Index part_;
  const PackedRuns* runs_;
};

/// Rows [row, row + rows) by columns [column, column + columns) of a panel, in its packed coordinates (its runs one
/// behind the other).
struct PackedRectangle {
  Index row = 0, rows = 0;
  Index column = 0, columns = 0;
};

/// For each place c across, the places [0, height(c)) down, where height grows with c.
class Staircase {
 public:
  /// The elements with down's global index <= across's global index + shift.
  Staircase(PackedAxis down, PackedAxis across, Index shift) : down_(down), across_(across), shift_(shift) {}

  /// Calls f(first down, last down, first across, last across) for rectangles, ends excluded.
  template <class F>
  void for_each_rectangle(F&& f) const {
    if (across_.length() > 0) cut(0, 0, across_.length(), f);
  }

 private:
  [[nodiscard]] Index height(Index c) const { return down_.count_before(across_.global_of(c) + shift_ + 1); }

  // What stands on `bottom` at places [first, last).
  template <class F>
  void cut(Index bottom, Index first, Index last, F& f) const {
    const Index lowest = height(first);
    if (lowest > bottom) f(bottom, lowest, first, last);
    if (last - first < 2 || height(last - 1) == lowest) return;
    const Index middle = first + (last - first) / 2;
    cut(lowest, first, middle, f);
    cut(lowest, middle, last, f);
  }

  PackedAxis down_, across_;
  Index shift_;
};

/// The elements of a panel that lie within a trapezoid of the target, as disjoint rectangles: all of the panel far on
/// one side of the diagonal, nothing far on the other. Along the diagonal they halve, down to parts of single rows or
/// columns. Their number is at most the panel's rows, and its columns.
///
/// A panel's packed rows and columns both go up in the matrix, so that what it has of the trapezoid is a staircase, and
/// where a step begins is told by the axes: the cost is that of the rectangles, times the logarithm of the panel's
/// extents.
///
/// The same at both ends of a package, in the same order.
std::vector<PackedRectangle> rectangles_within(const Trapezoid& part, const Panel& panel,
                                               const layout::Layout& target) {
  const PackedAxis rows(target.rows(), panel.target_position.row, *panel.rows);
  const PackedAxis columns(target.columns(), panel.target_position.column, *panel.columns);
  std::vector<PackedRectangle> rectangles;
  if (part.side == Trapezoid::Side::upper) {
    Staircase(rows, columns, part.diagonal).for_each_rectangle([&](Index top, Index bottom, Index left, Index right) {
      rectangles.push_back({top, bottom - top, left, right - left});
    });
  } else {
    Staircase(columns, rows, -part.diagonal).for_each_rectangle([&](Index left, Index right, Index top, Index bottom) {
      rectangles.push_back({top, bottom - top, left, right - left});
    });
  }
  return rectangles;
}

// The order in which both ends of a pair list their panels.
auto order_of(const Panel& panel) { return std::tie(panel.source_position, panel.target_position); }

Index find_tile(std::span<const TilePosition> tiles, TilePosition position) {
  const auto found = std::lower_bound(tiles.begin(), tiles.end(), position);
  return found != tiles.end() && *found == position ? found - tiles.begin() : -1;
}

// Packages from panels that are sorted by peer, given each panel's peer.
template <class PeerOf>
std::vector<Package> grouped(std::span<const Panel> panels, PeerOf peer_of) {
  std::vector<Package> packages;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (packages.empty() || packages.back().peer != peer_of(panels[i])) {
      packages.push_back({.peer = peer_of(panels[i])});
      begin = i;
    }
    packages.back().elements += panels[i].rows->length * panels[i].columns->length;
    packages.back().panels = panels.subspan(begin, i + 1 - begin);
  }
  return packages;
}

}  // namespace

const Packages::Overlay& Packages::overlay_of(Overlays& known, Index part, bool of_source, const layout::Axis& source,
                                              const layout::Axis& target) {
  const auto found = known.find(part);
  if (found != known.end()) return found->second;

  AxisOverlay axis =
      of_source ? AxisOverlay::of_source(source, part, target) : AxisOverlay::of_target(source, target, part);
  Overlay& entry = known.emplace(part, Overlay{std::move(axis), {}, {}}).first->second;
  std::size_t runs = 0;
  for (const layout::SharedPieces& pieces : entry.overlay) runs += pieces.runs.size();
  entry.starts.reserve(runs);
  for (const layout::SharedPieces& pieces : entry.overlay) {
    const std::size_t first = entry.starts.size();
    Index length = 0;
    for (const layout::Run& run : pieces.runs) {
      entry.starts.push_back(length);
      length += run.length;
    }
    entry.shared.push_back({pieces.runs, std::span(entry.starts).subspan(first), length});
    most_runs_ = std::max(most_runs_, pieces.runs.size());
  }
  return entry;
}

std::vector<Panel> Packages::panels_of(const Layout& source, const Layout& target, int rank, bool of_source) {
  if (target.shape().empty()) return {};  // however many rows there may be of no columns
  const Layout& mine = of_source ? source : target;
  const std::vector<TilePosition> source_tiles = source.owners().owned_by(rank);
  const std::vector<TilePosition> target_tiles = target.owners().owned_by(rank);
  std::vector<Panel> panels;
  for (const TilePosition tile : mine.owners().owned_by(rank)) {
    const Overlay& rows =
        overlay_of(of_source ? source_rows_ : target_rows_, tile.row, of_source, source.rows(), target.rows());
    const Overlay& columns = overlay_of(of_source ? source_columns_ : target_columns_, tile.column, of_source,
                                        source.columns(), target.columns());
    for (Index r = 0; r < rows.overlay.size(); ++r) {
      for (Index c = 0; c < columns.overlay.size(); ++c) {
        const TilePosition other{rows.overlay[r].part, columns.overlay[c].part};
        const TilePosition from = of_source ? tile : other;
        const TilePosition to = of_source ? other : tile;
        panels.push_back({.source_position = from,
                          .target_position = to,
                          .source_tile = find_tile(source_tiles, from),
                          .target_tile = find_tile(target_tiles, to),
                          .rows = &rows.shared[static_cast<std::size_t>(r)],
                          .columns = &columns.shared[static_cast<std::size_t>(c)]});
      }
    }
  }
  return panels;
}

/// The elements [begin, begin + length) of all runs.
const PackedRuns* Packages::cut_out(const PackedRuns& whole, Index begin, Index length, const layout::Axis& target,
                                    Index part) {
  if (length == whole.length) return &whole;
  Cut& cut = cuts_.emplace_back();
  Index done = 0;
  for (std::size_t k = PackedAxis(target, part, whole).run_at(begin); done < length; ++k) {
    const layout::Run& run = whole.runs[k];
    const Index skip = begin + done - whole.starts[k];
    const Index taken = std::min(run.length - skip, length - done);
    cut.runs.push_back(
        {target.global_of(part, run.target_local + skip), run.source_local + skip, run.target_local + skip, taken});
    cut.starts.push_back(done);
    done += taken;
  }
  cut.packed = {cut.runs, cut.starts, length};
  return &cut.packed;
}

std::vector<Panel> Packages::within(const Trapezoid& part, const std::vector<Panel>& panels, const Layout& target) {
  std::vector<Panel> result;
  for (const Panel& panel : panels) {
    const auto [row_part, column_part] = panel.target_position;
    for (const PackedRectangle& rectangle : rectangles_within(part, panel, target)) {
      result.push_back(panel);
      result.back().rows = cut_out(*panel.rows, rectangle.row, rectangle.rows, target.rows(), row_part);
      result.back().columns =
          cut_out(*panel.columns, rectangle.column, rectangle.columns, target.columns(), column_part);
    }
  }
  return result;
}

Packages::Packages(const Layout& source, const Layout& target, int rank, const std::optional<Trapezoid>& part)
    : outgoing_panels_(panels_of(source, target, rank, true)),
      incoming_panels_(panels_of(source, target, rank, false)) {
  const auto receiver = [&](const Panel& panel) { return target.owners().owner(panel.target_position); };
  const auto sender = [&](const Panel& panel) { return source.owners().owner(panel.source_position); };
  const auto sort = [](std::vector<Panel>& panels, auto peer_of) {
    std::sort(panels.begin(), panels.end(), [&](const Panel& a, const Panel& b) {
      return std::pair(peer_of(a), order_of(a)) < std::pair(peer_of(b), order_of(b));
    });
  };
  sort(outgoing_panels_, receiver);
  sort(incoming_panels_, sender);
  if (part) {
    outgoing_panels_ = within(*part, outgoing_panels_, target);
    incoming_panels_ = within(*part, incoming_panels_, target);
  }
  outgoing_ = grouped(outgoing_panels_, receiver);
  incoming_ = grouped(incoming_panels_, sender);

  own_.peer = rank;
  const auto keep = [&](std::vector<Package>& packages) {
    const auto own = std::find_if(packages.begin(), packages.end(), [&](const Package& p) { return p.peer == rank; });
    if (own == packages.end()) return;
    own_ = *own;
    packages.erase(own);
  };
  keep(incoming_);
  keep(outgoing_);
}

}  // namespace plait::redistribute
