#include "plait/dense/panels.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

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

}  // namespace

std::vector<Panel> panels(const Arrangement& arrangement, int layer, Index longest) {
  struct Turn {
    Index a_turn, b_turn;  // how far inside of the parts
    Panel panel;
  };
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
    turns.push_back({begin - a.begin, begin - b.begin, {{begin, end}, a_part, b_part}});
    begin = end;
  }
  std::ranges::stable_sort(turns, {}, [](const Turn& turn) { return std::pair(turn.a_turn, turn.b_turn); });
  std::vector<Panel> result;
  result.reserve(turns.size());
  for (const Turn& turn : turns) result.push_back(turn.panel);
  return result;
}

Cut chosen_cut(const Arrangement& arrangement, const model::Machine& machine, const model::Placement& placement,
               Index element_bytes, Index panel_terms) {
  const Mesh& mesh = arrangement.mesh();
  const Index rows = arrangement.rows(0).length();
  const Index columns = arrangement.columns(0).length();
  const Index terms = arrangement.terms(0).length();
  const auto elements = [&](int ranks, Index all) {
    const Index bytes = best_segment(machine, placement, ranks, all * element_bytes);
    return std::max(Index{1}, std::min(bytes, mpi::longest_message) / element_bytes);
  };
  return {.panel_terms = panel_terms > 0 ? panel_terms : usual_panel,
          .a_segment = elements(mesh.columns, rows * terms),
          .b_segment = elements(mesh.rows, columns * terms),
          .c_segment = elements(mesh.layers, rows * columns)};
}

}  // namespace plait::dense
