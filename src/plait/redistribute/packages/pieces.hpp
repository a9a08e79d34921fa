#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/redistribute/packages/packages.hpp"

namespace plait::redistribute {

/// A rectangle of a panel, in the panel's packed coordinates (its runs one behind the other). In a message it lies
/// dense, in the order in which its matrix is packed, at `offset` bytes from the beginning of its chunk.
struct PanelPiece {
  std::size_t matrix = 0;  ///< of the batch
  const Panel* panel = nullptr;
  Index row = 0, rows = 0;
  Index column = 0, columns = 0;
  Index offset = 0;
};

/// What one message carries: consecutive pieces of packages that go the same way, grouped into steps of computation.
struct Chunk {
  std::vector<PanelPiece> pieces;
  std::vector<std::size_t> step_ends;  ///< step s is pieces [step_ends[s - 1], step_ends[s])
  Index bytes = 0;

  [[nodiscard]] Index steps() const noexcept { return static_cast<Index>(step_ends.size()); }
  [[nodiscard]] std::span<const PanelPiece> step(Index s) const {
    const auto i = static_cast<std::size_t>(s);
    const std::size_t begin = i == 0 ? 0 : step_ends[i - 1];
    return std::span(pieces).subspan(begin, step_ends[i] - begin);
  }
};

/// The package of one matrix of a batch, and how it is packed: the same at both ends.
struct PackageToCut {
  const Package* package = nullptr;
  std::size_t matrix = 0;
  Index element_bytes = 1;
  StorageOrder packed = StorageOrder::column_major;  ///< the order of elements within a piece
  bool turned = false;                               ///< whether the target is stored in the other order
};

/// Whether columns (rows) are copied in runs between which, at short distances, the source has what goes elsewhere: who
/// reads one reads the other, as memory is fetched in longer stretches.
[[nodiscard]] bool is_interleaved(std::span<const PackageToCut> packages);

/// The same on all ranks, so that both ends of a message cut alike. At least 16 bytes each.
struct CutLimits {
  Index chunk_bytes;  ///< at most in one message
  Index step_bytes;   ///< about as much as one step of computation moves
};

/// The packages between two ranks as messages, one matrix after the other; elements lie aligned to their size.
[[nodiscard]] std::vector<Chunk> cut(std::span<const PackageToCut> packages, CutLimits limits);

}  // namespace plait::redistribute
