#pragma once

#include <algorithm>
#include <vector>

#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/panels.hpp"

#include "support/collective_traffic.hpp"

namespace plait::test {

using dense::Arrangement;
using dense::Cut;
using layout::GridPlace;
using layout::ProcessGrid;

/// Calls f(elements) for the messages in which so many elements travel.
template <class F>
void for_each_message(Index elements, Index segment, F&& f) {
  for (Index first = 0; first < elements; first += segment) f(std::min(segment, elements - first));
}

inline Exchanged summa_traffic(const Arrangement& arrangement, const Cut& cut, Index element_bytes,
                               const GridPlace& me) {
  const ProcessGrid& mesh = arrangement.mesh();
  Exchanged traffic;
  const auto add = [&](Index elements, Index segment, int ranks, int root, int index) {
    if (ranks == 1) return;
    for_each_message(elements, segment,
                     [&](Index some) { traffic += broadcast_chain_traffic(some * element_bytes, ranks, root, index); });
  };
  for (const dense::Panel& panel : dense::panels(arrangement, me.layer, cut.panel_terms)) {
    add(arrangement.rows(me.row).length() * panel.terms, cut.a_segment, mesh.columns, panel.a_part, me.column);
    add(arrangement.columns(me.column).length() * panel.terms, cut.b_segment, mesh.rows, panel.b_part, me.row);
  }
  return traffic;
}

inline Exchanged round_traffic(const Arrangement& arrangement, Index element_bytes, const GridPlace& me) {
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

inline Exchanged layers_traffic(const Arrangement& arrangement, const Cut& cut, Index element_bytes,
                                const GridPlace& me) {
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
    traffic += reduce_scatter_ring_traffic(pieces, me.layer, true);
  }
  return traffic;
}

/// What a role sends and receives during a product, exactly: messages and bytes, without the moves of A, B and C from
/// and to the caller's layouts. With square matrices, extents that divide evenly and whole messages these are the
/// formulas of the literature, for each of P ranks that have n² / P elements of each matrix:
///
/// ring:               P - 1 messages, (P - 1) n² / P elements
/// Cannon:             2 (√P - 1) messages, 2 (√P - 1) n² / P elements, after the initial alignment
/// SUMMA:              as many elements; of each panel, A's and B's, a message. In place likewise
/// 2.5D, c layers:     2 (√(P/c) - 1) n² / P elements of A and B in all, and (1 - 1/c) c n² / P of C
inline Exchanged product_traffic(const Arrangement& arrangement, const Cut& cut, Index element_bytes, int role) {
  if (role >= arrangement.mesh().ranks()) return {};
  const GridPlace me = arrangement.mesh().place(role);
  Exchanged traffic = goes_in_panels(arrangement) ? summa_traffic(arrangement, cut, element_bytes, me)
                                                  : round_traffic(arrangement, element_bytes, me);
  if (arrangement.mesh().layers > 1) traffic += layers_traffic(arrangement, cut, element_bytes, me);
  return traffic;
}

}  // namespace plait::test
