#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/overlay.hpp"
#include "plait/redistribute/trapezoid.hpp"

namespace plait::redistribute {

/// One direction of a panel: the runs that a source tile and a target tile have in common, and where each of them
/// begins when they lie one behind the other.
struct PackedRuns {
  std::span<const layout::Run> runs;
  std::span<const Index> starts;  // of the runs, in elements
  Index length = 0;               // of all of them
};

/// What one source tile and one target tile have in common, or a part of that: the product of row runs and column runs.
struct Panel {
  layout::TilePosition source_position;
  layout::TilePosition target_position;
  Index source_tile = -1;  ///< in the list of this rank's source tiles, -1 if another rank holds it
  Index target_tile = -1;  ///< likewise of its target tiles
  const PackedRuns* rows = nullptr;
  const PackedRuns* columns = nullptr;
};

/// All that one rank sends to (receives from) another: COSTA's package. Both ends list the same panels in the same
/// order.
struct Package {
  int peer = 0;
  Index elements = 0;
  std::span<const Panel> panels{};
};

/// The packages of one rank between two layouts of the same shape. Pure arithmetic; the cost grows with what the rank
/// owns and the number of its peers, whatever the shape. Of a trapezoid only what lies within is in panels, which are
/// cut along its diagonal: one for each element of it that the rank holds, about.
///
/// Source: Kabić et al., "COSTA", Algorithm 2, with the overlay as a product of two axes in place of a walk over it.
class Packages {
 public:
  /// \param part  of the target
  Packages(const layout::Layout& source, const layout::Layout& target, int rank,
           const std::optional<Trapezoid>& part = {});
  Packages(Packages&&) = delete;

  /// Sorted by peer; what the rank keeps is not among them.
  [[nodiscard]] std::span<const Package> outgoing() const noexcept { return outgoing_; }
  [[nodiscard]] std::span<const Package> incoming() const noexcept { return incoming_; }
  /// What the rank holds before and after.
  [[nodiscard]] const Package& own() const noexcept { return own_; }
  /// The largest number of runs in one direction of a panel.
  [[nodiscard]] std::size_t most_runs() const noexcept { return most_runs_; }

 private:
  struct Overlay {
    layout::AxisOverlay overlay;
    std::vector<Index> starts;
    std::vector<PackedRuns> shared;
  };
  using Overlays = std::map<Index, Overlay>;  // by part
  struct Cut {
    std::vector<layout::Run> runs;
    std::vector<Index> starts;
    PackedRuns packed;
  };

  const Overlay& overlay_of(Overlays& known, Index part, bool of_source, const layout::Axis& source,
                            const layout::Axis& target);
  std::vector<Panel> panels_of(const layout::Layout& source, const layout::Layout& target, int rank, bool of_source);
  std::vector<Panel> within(const Trapezoid& part, const std::vector<Panel>& panels, const layout::Layout& target);
  const PackedRuns* cut_out(const PackedRuns& whole, Index begin, Index length, const layout::Axis& target, Index part);

  std::size_t most_runs_ = 0;  // before what the constructor's initialisers count into it
  Overlays source_rows_, source_columns_, target_rows_, target_columns_;
  std::deque<Cut> cuts_;
  std::vector<Panel> outgoing_panels_, incoming_panels_;
  std::vector<Package> outgoing_, incoming_;
  Package own_;
};

}  // namespace plait::redistribute
