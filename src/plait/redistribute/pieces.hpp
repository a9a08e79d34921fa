#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/redistribute/packages.hpp"

namespace plait::redistribute {

/// A rectangle of a panel, in the panel's packed coordinates (its runs one behind the other). In a message it lies
/// dense, in the order in which packages are packed, at `offset` elements from the beginning of its chunk.
struct Piece {
  const Panel* panel = nullptr;
  Index row = 0, rows = 0;
  Index column = 0, columns = 0;
  Index offset = 0;
};

/// What one message carries: consecutive pieces of a package, grouped into steps of computation.
struct Chunk {
  std::vector<Piece> pieces;
  std::vector<std::size_t> step_ends;  ///< step s is pieces [step_ends[s - 1], step_ends[s])
  Index elements = 0;

  [[nodiscard]] Index steps() const noexcept { return static_cast<Index>(step_ends.size()); }
  [[nodiscard]] std::span<const Piece> step(Index s) const {
    const auto i = static_cast<std::size_t>(s);
    const std::size_t begin = i == 0 ? 0 : step_ends[i - 1];
    return std::span(pieces).subspan(begin, step_ends[i] - begin);
  }
};

/// How packages are cut; the same on all ranks, so that both ends of a message cut alike.
struct Cut {
  Index chunk_elements;  ///< at most in one message
  Index piece_elements;  ///< about as much as one step of computation moves
  StorageOrder packed;   ///< the order of elements within a piece
  bool turned;           ///< whether the target is stored in the other order
};

[[nodiscard]] std::vector<Chunk> cut(const Package& package, const Cut& how);

}  // namespace plait::redistribute
