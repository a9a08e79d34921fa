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

}  // namespace plait::dense
