#include "plait/dense/summa_times.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/rounding.hpp"

namespace plait::dense {

Index stages_of_panel(const Arrangement& arrangement, const Cut& cut) {
  const auto segments = [&](Index lines, Index segment) { return quotient_up(lines * cut.panel_terms, segment); };
  return std::max({Index{1}, segments(arrangement.most_rows(), cut.a_segment),
                   segments(arrangement.most_columns(), cut.b_segment)});
}

Index blocks_for_panels(const std::vector<HeldPanel>& held) {
  std::vector<std::pair<Index, int>> changes;  // what ends at a stage is still held at it
  for (const HeldPanel& one : held) {
    changes.emplace_back(one.first, 1);
    changes.emplace_back(one.last + 1, -1);
  }
  std::ranges::sort(changes);
  Index now = 0;
  Index most = 0;
  for (const auto& [stage, change] : changes) {
    now += change;
    most = std::max(most, now);
  }
  return std::max(Index{1}, std::min(most + 1, static_cast<Index>(held.size())));
}

Index longest_panel(const std::vector<HeldPanel>& held) {
  Index most = 0;
  for (const HeldPanel& one : held) most = std::max(most, one.elements);
  return most;
}

SummaTimes summa_times(const Arrangement& arrangement, const Cut& cut, const GridPlace& me) {
  const ProcessGrid& mesh = arrangement.mesh();
  SummaTimes times{panels(arrangement, me.layer, cut.panel_terms), {}, {}, {}};
  const Index stages = stages_of_panel(arrangement, cut);
  const Index rows = arrangement.rows(me.row).length();
  const Index columns = arrangement.columns(me.column).length();
  Index begin = 0;
  for (const Panel& panel : times.panels) {
    // It comes at so many hops behind its beginning, and at the same stage as the last message it is multiplied.
    const Index a_hops = (me.column - panel.a_part + mesh.columns) % mesh.columns;
    const Index b_hops = (me.row - panel.b_part + mesh.rows) % mesh.rows;
    const Index arrived = begin + stages - 1 + std::max({Index{1}, a_hops, b_hops});
    const Index multiplied = times.multiplied.empty() ? arrived : std::max(arrived, times.multiplied.back() + 1);
    times.multiplied.push_back(multiplied);
    if (a_hops > 0) times.a.push_back({begin + a_hops - 1, multiplied, rows * panel.terms});
    if (b_hops > 0) times.b.push_back({begin + b_hops - 1, multiplied, columns * panel.terms});
    begin += stages;
  }
  return times;
}

}  // namespace plait::dense
