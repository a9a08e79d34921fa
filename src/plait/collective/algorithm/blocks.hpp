#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"

namespace plait::collective {

/// A piece of each rank's block, in the order of a group's ranks, that move together: of one strand, number and stage.
/// Pieces may be empty. What a piece is `final` after counts where the rank has it.
using Chunk = std::vector<Segment>;

/// Where the vector lies that chunks are parts of: at one place, or for each chunk at one of its own, such as one that
/// comes to lie in staging memory.
class Places {
 public:
  Places(Place place) : places_{place}, is_one_(true) {}  // NOLINT(google-explicit-constructor): it is one
  explicit Places(std::vector<Place> of_chunks) : places_(std::move(of_chunks)), is_one_(false) {}
  [[nodiscard]] Place of(std::size_t chunk) const { return places_[is_one_ ? 0 : chunk]; }

 private:
  std::vector<Place> places_;
  bool is_one_;
};

/// A vector of which each rank of a group has a block, or is to have it: chunk by chunk, so that a chunk moves on while
/// others are still on their way.
class Blocks {
 public:
  /// Of each segment the i-th of `parts` nearly equal pieces is of the i-th rank's block: a chunk is a segment.
  [[nodiscard]] static Blocks split(const Stream& stream, int parts);

  /// As MPI has them: the block of the i-th rank is counts[i] elements long, and lies behind those before it. Each is
  /// cut like a `Stream`; the k-th segments of all blocks are a chunk.
  /// \throws ArgumentError  no counts, or a negative one; and what `Stream::cut` throws
  [[nodiscard]] static Blocks cut(std::span<const Index> counts, Index element_bytes, int strands,
                                  Index segment_elements);

  /// The pieces of one rank's block.
  [[nodiscard]] Stream block(int index) const;
  /// The first element of one rank's block, and the one behind its last.
  [[nodiscard]] std::pair<Index, Index> extent(int index) const;
  /// They have become this: as many segments, in their order, and all other pieces get their stages.
  void replace(int index, const Stream& block);
  /// All of them.
  void replace(const std::vector<Stream>& blocks);
  /// All pieces move on so many stages later.
  void add_stages(Index stages);

  /// Each chunk as one segment, which is final when all its pieces are.
  /// \pre  the pieces of a chunk lie one behind the other, as `split` makes them
  [[nodiscard]] Stream joined() const;
  /// All pieces, each as a segment.
  [[nodiscard]] Stream pieces() const;

  [[nodiscard]] Index element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] std::vector<Chunk>& chunks() noexcept { return chunks_; }
  [[nodiscard]] const std::vector<Chunk>& chunks() const noexcept { return chunks_; }
  /// How many blocks: ranks.
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] Range range(Place place, Index begin, Index end) const noexcept {
    return {place.slot, place.offset + begin * element_bytes_, (end - begin) * element_bytes_};
  }

  /// \throws ArgumentError  there are more or fewer of them than ranks in the group
  void expect_one_each(const Group& group) const;

 private:
  Blocks(Index element_bytes, int size) : element_bytes_(element_bytes), size_(size) {}

  Index element_bytes_;
  int size_;
  std::vector<Chunk> chunks_;
};

/// Pieces of a chunk that lie one behind the other: what one message holds.
struct PieceRun {
  Index begin, end;         ///< elements of the vector
  std::vector<int> blocks;  ///< whose pieces, none of them empty

  [[nodiscard]] Index elements() const noexcept { return end - begin; }
};

/// The pieces of `count` consecutive blocks from `first` on (block 0 follows the last one) in as few runs as there can
/// be: two where a chunk is without gaps and they go beyond its end.
[[nodiscard]] std::vector<PieceRun> runs(const Chunk& chunk, int first, int count);

/// Without repetition, what makes the pieces of a run final; what reads them, too.
[[nodiscard]] Dependencies finals(const Chunk& chunk, const PieceRun& run);
[[nodiscard]] Dependencies finals_and_readers(const Chunk& chunk, const PieceRun& run);

/// Copies this rank's block to its place in `data`.
/// \param block  where it lies
[[nodiscard]] Blocks copy_own_block(Graph& graph, const Group& group, Blocks blocks, Place block, Place data);

}  // namespace plait::collective
