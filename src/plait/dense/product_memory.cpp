#include "plait/dense/product_memory.hpp"

#include <algorithm>

#include "plait/base/rounding.hpp"
#include "plait/dense/summa_times.hpp"

namespace plait::dense {

namespace {

/// What `collective::reduce_scatter_ring` takes.
Index most_summed_elements(const Arrangement& arrangement, const Cut& cut) {
  const Index hops = arrangement.mesh().layers - 1;
  const Index block = arrangement.rows(0).length() * arrangement.final_columns(0, 0).length();
  const Index segments = quotient_up(block, cut.c_segment);
  const Index segments_under_way = std::max(std::min(hops, segments), std::min(segments * hops, Index{16}));
  return std::min(block, cut.c_segment) * (segments_under_way + 1);
}

}  // namespace

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
