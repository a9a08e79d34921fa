#include "plait/redistribute/packages/packages.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "plait/redistribute/packages/packed_axis.hpp"
#include "plait/redistribute/packages/panel_part.hpp"

namespace plait::redistribute {

namespace {

using layout::AxisOverlay;
using layout::Layout;
using layout::TilePosition;

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
