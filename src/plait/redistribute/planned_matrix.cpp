#include "plait/redistribute/planned_matrix.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "plait/simd/stores.hpp"

namespace plait::redistribute {

PlannedMatrix::PlannedMatrix(const MatrixPair& its_pair, int rank)
    : pair(its_pair),
      source_tiles(pair.from.tiles_of(rank)),
      target_tiles(pair.to.tiles_of(rank)),
      op_from(pair.op_from()),
      packages(op_from, pair.to, rank, pair.part) {
  const std::vector<layout::TilePosition> tiles = pair.from.owners().owned_by(rank);
  for (const layout::TilePosition tile : op_from.owners().owned_by(rank)) {
    const layout::TilePosition original = transposes(pair.op) ? layout::TilePosition{tile.column, tile.row} : tile;
    source_order.push_back(std::lower_bound(tiles.begin(), tiles.end(), original) - tiles.begin());
  }
}

namespace {

// Whether a tile lies in shared memory, and where: added to `places`.
bool is_shared(const mpi::Context& context, const TileMemory& memory, Index element_bytes,
               std::vector<mpi::SharedPlace>& places) {
  const std::span<const std::byte> bytes{memory.tile.data, static_cast<std::size_t>(memory.span() * element_bytes)};
  const std::optional<mpi::SharedPlace> place = bytes.empty() ? mpi::SharedPlace{} : context.find_shared(bytes);
  if (place) places.push_back(*place);
  return place.has_value();
}

}  // namespace

void PlannedMatrix::bind(const mpi::Context& context, const Operands& operands) {
  source.clear();
  target.clear();
  shared_source.clear();
  shared_target.clear();
  is_source_shared = is_target_shared = true;
  Index target_bytes = 0;
  for (const TileMemory& memory : operands.target()) {
    target.push_back(memory.tile);
    target_bytes += memory.minor * memory.major * operands.element_bytes();
    is_target_shared = is_target_shared && is_shared(context, memory, operands.element_bytes(), shared_target);
  }
  const bool past_caches = simd::streams(simd::Stores::automatic, target_bytes);
  transform = operands.transform(conjugates(pair.op), past_caches ? simd::Stores::streaming : simd::Stores::cached);
  if (!operands.reads_source()) return;
  for (const Index tile : source_order) {
    const TileMemory& memory = operands.source()[static_cast<std::size_t>(tile)];
    source.push_back(memory.tile);
    is_source_shared = is_source_shared && is_shared(context, memory, operands.element_bytes(), shared_source);
    if (transposes(pair.op)) source.back().order = flipped(source.back().order);
  }
}

}  // namespace plait::redistribute
