#include "plait/dense/panels.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plait/base/rounding.hpp"
#include "plait/layout/overlay.hpp"
#include "plait/model/choice.hpp"
#include "plait/mpi/message.hpp"

namespace plait::dense {

namespace {

constexpr Index usual_panel = 256;  // from here on, local products are as fast as they get

/// Of messages along a chain of so many ranks, which carries so many bytes in all.
Index best_segment(const model::Machine& machine, const model::Placement& placement, int ranks, Index bytes) {
  if (ranks <= 2 || bytes == 0) return mpi::longest_message;
  const model::Placement chain{ranks, placement.nodes() == 1 ? ranks : 1};
  const auto choice = model::choose<model::BroadcastAlgorithm>(
      machine, chain, bytes, {.algorithm = model::BroadcastAlgorithm::chain, .strands = 1});
  return choice.segment_bytes;
}

struct Turn {
  Index a_turn, b_turn;  // what sorts them
  Panel panel;
};

std::vector<Turn> turns_of_spans(const Arrangement& arrangement, int layer, Index longest) {
  std::vector<Turn> turns;
  int a_part = 0;
  int b_part = 0;
  const Span all = arrangement.terms(layer);
  for (Index begin = all.begin; begin < all.end;) {
    while (arrangement.a_terms(layer, a_part).end <= begin) ++a_part;
    while (arrangement.b_terms(layer, b_part).end <= begin) ++b_part;
    const Span a = arrangement.a_terms(layer, a_part);
    const Span b = arrangement.b_terms(layer, b_part);
    const Index end = std::min({begin + longest, a.end, b.end});
    const bool a_stays = arrangement.mesh().columns == 1;
    const Index a_begin = begin - a.begin;
    const Index b_begin = begin - b.begin;
    turns.push_back({a_stays ? 0 : a_begin, b_begin, {end - begin, a_part, b_part, a_begin, b_begin}});
    begin = end;
  }
  return turns;
}

/// What a part of A's terms and a part of B's have in common.
struct Common {
  Index first;  // of all terms
  Index length;
  int a_part, b_part;
  Index a_begin, b_begin;
};

std::vector<Common> all_common(const GivenAxes& given) {
  const auto b_parts = static_cast<std::size_t>(given.b_terms.parts());
  std::vector<Index> b_begin(b_parts, 0);
  std::vector<Common> all;
  for (Index part = 0; part < given.a_terms.parts(); ++part) {
    Index a_begin = 0;
    for (const layout::SharedPieces& shared : layout::AxisOverlay::of_source(given.a_terms, part, given.b_terms)) {
      Index& begin = b_begin[static_cast<std::size_t>(shared.part)];
      all.push_back({shared.runs.front().global, shared.length, static_cast<int>(part), static_cast<int>(shared.part),
                     a_begin, begin});
      a_begin += shared.length;
      begin += shared.length;
    }
  }
  std::ranges::sort(all, {}, &Common::first);
  return all;
}

std::vector<Turn> turns_in_place(const GivenAxes& given, Index longest) {
  std::vector<Turn> turns;
  Index number = 0;
  for (const Common& common : all_common(given)) {
    const Index count = quotient_up(common.length, longest);
    Index begin = 0;
    for (Index i = 0; i < count; ++i) {
      const Index terms = common.length / count + (i < common.length % count ? 1 : 0);
      turns.push_back(
          {i, number, {terms, common.a_part, common.b_part, common.a_begin + begin, common.b_begin + begin}});
      begin += terms;
    }
    ++number;
  }
  return turns;
}

std::vector<Stretch> order(const layout::Axis& own, int part, const layout::Axis& other) {
  std::vector<Stretch> result;
  const auto add = [&](const Stretch& next) {
    const bool follows = !result.empty() && result.back().begin + result.back().length == next.begin;
    if (follows) {
      result.back().length += next.length;
    } else {
      result.push_back(next);
    }
  };
  for (const layout::SharedPieces& shared : layout::AxisOverlay::of_source(own, part, other)) {
    for (const layout::Run& run : shared.runs) add({run.source_local, run.length});
  }
  return result.size() == 1 ? std::vector<Stretch>() : result;
}

/// What `collective::reduce_scatter_ring` takes.
Index most_summed_elements(const Arrangement& arrangement, const Cut& cut) {
  const Index hops = arrangement.mesh().layers - 1;
  const Index block = arrangement.rows(0).length() * arrangement.final_columns(0, 0).length();
  const Index segments = quotient_up(block, cut.c_segment);
  const Index segments_under_way = std::max(std::min(hops, segments), std::min(segments * hops, Index{16}));
  return std::min(block, cut.c_segment) * (segments_under_way + 1);
}

}  // namespace

std::vector<Panel> panels(const Arrangement& arrangement, int layer, Index longest) {
  std::vector<Turn> turns =
      arrangement.given() ? turns_in_place(*arrangement.given(), longest) : turns_of_spans(arrangement, layer, longest);
  std::ranges::stable_sort(turns, {}, [](const Turn& turn) { return std::pair(turn.a_turn, turn.b_turn); });
  std::vector<Panel> result;
  result.reserve(turns.size());
  for (const Turn& turn : turns) result.push_back(turn.panel);
  return result;
}

std::vector<Stretch> a_order(const Arrangement& arrangement, int part) {
  const GivenAxes& given = *arrangement.given();
  return order(given.a_terms, part, given.b_terms);
}
std::vector<Stretch> b_order(const Arrangement& arrangement, int part) {
  const GivenAxes& given = *arrangement.given();
  return order(given.b_terms, part, given.a_terms);
}

Cut chosen_cut(const Arrangement& arrangement, const model::Machine& machine, const model::Placement& placement,
               Index element_bytes, Index panel_terms) {
  const ProcessGrid& mesh = arrangement.mesh();
  const Index rows = arrangement.most_rows();
  const Index columns = arrangement.most_columns();
  const Index terms = arrangement.terms(0).length();
  const auto elements = [&](int ranks, Index all) {
    const Index bytes = best_segment(machine, placement, ranks, all * element_bytes);
    return std::max(Index{1}, std::min(bytes, mpi::longest_message) / element_bytes);
  };
  return {.panel_terms = panel_terms > 0 ? std::min(panel_terms, std::max(Index{1}, terms)) : usual_panel,
          .a_segment = elements(mesh.columns, rows * terms),
          .b_segment = elements(mesh.rows, columns * terms),
          .c_segment = elements(mesh.layers, rows * columns)};
}

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

TileElements tile_elements(const Arrangement& arrangement, int role) {
  if (role >= arrangement.mesh().ranks()) return {};
  const GridPlace place = arrangement.mesh().place(role);
  const Index rows = arrangement.rows(place.row).length();
  const Index columns = arrangement.columns(place.column).length();
  return {rows * arrangement.a_terms(place.layer, arrangement.a_part(place)).length(),
          columns * arrangement.b_terms(place.layer, arrangement.b_part(place)).length(), rows * columns};
}

TileElements most_tile_elements(const Arrangement& arrangement) {
  const Index rows = arrangement.most_rows();
  const Index columns = arrangement.most_columns();
  return {rows * arrangement.most_a_terms(), columns * arrangement.most_b_terms(), rows * columns};
}

Index most_staged_elements(const Arrangement& arrangement, const Cut& cut) {
  const ProcessGrid& mesh = arrangement.mesh();
  const Index summed = mesh.layers > 1 ? most_summed_elements(arrangement, cut) : 0;
  if (!goes_in_panels(arrangement)) {
    const Index rounds = std::max(mesh.rows, mesh.columns);
    const Index part = quotient_up(arrangement.terms(0).length(), rounds);
    const Index line =
        (mesh.columns > 1 ? arrangement.rows(0).length() : 0) + (mesh.rows > 1 ? arrangement.columns(0).length() : 0);
    return std::min(Index{2}, rounds - 1) * part * line + summed;
  }
  // A panel is in use from its beginning until so many hops later; `blocks_for_panels` counts more closely.
  const Index hops = std::max(mesh.rows, mesh.columns) - 1;
  const Index stages = stages_of_panel(arrangement, cut);
  const Index blocks = (stages - 1 + hops) / stages + 2;
  const auto staged = [&](int ranks, Index line, Index part) {
    if (ranks == 1) return Index{0};
    return blocks * std::min(cut.panel_terms, part) * line;
  };
  return staged(mesh.columns, arrangement.most_rows(), arrangement.most_a_terms()) +
         staged(mesh.rows, arrangement.most_columns(), arrangement.most_b_terms()) + summed;
}

}  // namespace plait::dense
