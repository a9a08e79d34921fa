#include <algorithm>
#include <vector>

#include "plait/collective/algorithm/chain.hpp"
#include "plait/collective/algorithm/reduce_scatter.hpp"
#include "plait/dense/arrangement/arrangement_traffic.hpp"

namespace plait::dense {

namespace {

using collective::Exchanged;

/// Calls f(elements) for the messages in which so many elements travel.
template <class F>
void for_each_message(Index elements, Index segment, F&& f) {
  for (Index first = 0; first < elements; first += segment) f(std::min(segment, elements - first));
}

Exchanged summa_traffic(const Arrangement& arrangement, const Cut& cut, Index element_bytes, const GridPlace& me) {
  const ProcessGrid& mesh = arrangement.mesh();
  Exchanged traffic;
  const auto add = [&](Index elements, Index segment, int ranks, int root, int index) {
    if (ranks == 1) return;
    for_each_message(elements, segment, [&](Index some) {
      traffic += collective::broadcast_chain_traffic(some * element_bytes, ranks, root, index);
    });
  };
  for (const Panel& panel : panels(arrangement, me.layer, cut.panel_terms)) {
    add(arrangement.rows(me.row).length() * panel.terms, cut.a_segment, mesh.columns, panel.a_part, me.column);
    add(arrangement.columns(me.column).length() * panel.terms, cut.b_segment, mesh.rows, panel.b_part, me.row);
  }
  return traffic;
}

Exchanged round_traffic(const Arrangement& arrangement, Index element_bytes, const GridPlace& me) {
  const ProcessGrid& mesh = arrangement.mesh();
  Exchanged traffic;
  for (int round = 0; round + 1 < mesh.columns; ++round) {
    const Index line = arrangement.rows(me.row).length() * element_bytes;
    const int part = arrangement.a_part(me) + round;
    traffic.send(line * arrangement.a_terms(me.layer, part % mesh.columns).length());
    traffic.receive(line * arrangement.a_terms(me.layer, (part + 1) % mesh.columns).length());
  }
  for (int round = 0; round + 1 < mesh.rows; ++round) {
    const Index line = arrangement.columns(me.column).length() * element_bytes;
    const int part = arrangement.b_part(me) + round;
    traffic.send(line * arrangement.b_terms(me.layer, part % mesh.rows).length());
    traffic.receive(line * arrangement.b_terms(me.layer, (part + 1) % mesh.rows).length());
  }
  return traffic;
}

Exchanged layers_traffic(const Arrangement& arrangement, const Cut& cut, Index element_bytes, const GridPlace& me) {
  const int layers = arrangement.mesh().layers;
  std::vector<Index> left;
  for (int layer = 0; layer < layers; ++layer) {
    left.push_back(arrangement.final_columns(me.column, layer).length() * arrangement.rows(me.row).length());
  }
  Exchanged traffic;
  while (std::ranges::max(left) > 0) {
    std::vector<Index> pieces;
    for (Index& elements : left) {
      pieces.push_back(std::min(elements, cut.c_segment) * element_bytes);
      elements -= std::min(elements, cut.c_segment);
    }
    traffic += collective::reduce_scatter_ring_traffic(pieces, me.layer, true);
  }
  return traffic;
}

}  // namespace

Exchanged product_traffic(const Arrangement& arrangement, const Cut& cut, Index element_bytes, int role) {
  if (role >= arrangement.mesh().ranks()) return {};
  const GridPlace me = arrangement.mesh().place(role);
  Exchanged traffic = goes_in_panels(arrangement) ? summa_traffic(arrangement, cut, element_bytes, me)
                                                  : round_traffic(arrangement, element_bytes, me);
  if (arrangement.mesh().layers > 1) traffic += layers_traffic(arrangement, cut, element_bytes, me);
  return traffic;
}

}  // namespace plait::dense
