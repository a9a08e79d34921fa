#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_memory.hpp"
#include "plait/mpi/node/shared_pool.hpp"

namespace plait::collective::node {

/// Where pieces of data under way lie in a ring of memory: one behind the other, and at its beginning again where it
/// ends. All of the ring is used however short the pieces are: what was written last is in a cache of who has read it,
/// and memory that has left it is written up to four times as fast.
///
/// Of `pieces_ahead` pieces in a row none lies over another.
class PieceRing {
 public:
  static constexpr std::uint64_t pieces_ahead = 8;
  /// Pieces begin on pairs of cache lines, which processors fetch at once.
  static constexpr Index apart = 128;
  [[nodiscard]] static constexpr Index rounded_up(Index bytes) noexcept { return (bytes + apart - 1) / apart * apart; }

  /// What a ring takes for pieces of at most so many bytes. One more than may be under way, as none is cut in two
  /// where the ring ends.
  [[nodiscard]] static constexpr Index bytes_for(Index longest_piece) noexcept {
    return static_cast<Index>(pieces_ahead + 1) * rounded_up(longest_piece);
  }

  /// \pre  longest_piece >= 1
  explicit PieceRing(Index longest_piece) noexcept : bytes_(bytes_for(longest_piece)) {}

  /// The pieces from here on, of number 0 and up, are equally long.
  /// \pre  1 <= piece_bytes <= the longest
  void begin(Index piece_bytes) noexcept {
    stride_ = rounded_up(piece_bytes);
    first_ = next_;
    until_end_ = (bytes_ - first_) / stride_;
  }

  /// In bytes from the ring's beginning.
  [[nodiscard]] Index place(Index piece) const noexcept {
    if (piece < until_end_) return first_ + piece * stride_;
    return (piece - until_end_) % (bytes_ / stride_) * stride_;
  }

  /// There were so many.
  void end(Index pieces) noexcept {
    if (pieces > 0) next_ = place(pieces - 1) + stride_;
  }

 private:
  Index bytes_;
  Index stride_ = 0;
  Index first_ = 0;      // where piece 0 lies, if it is not beyond the end
  Index until_end_ = 0;  // pieces from there on
  Index next_ = 0;       // where the next piece 0 will lie
};

/// The memory through which the ranks of a node reduce: each has a segment that it alone writes and all read. Ranks are
/// those of the node, numbers of calls and rounds count from 1 and never start over, and all of them are read and
/// written as atomics.
class Board {
 public:
  /// Apart from each other by what processors fetch at once.
  static constexpr std::size_t apart = PieceRing::apart;

  /// Up to so many bytes are few in a slot.
  static constexpr Index few_bytes = Index{2} << 10;

  /// How many calls, and rounds, a rank may be ahead of another.
  static constexpr std::uint64_t slots = 4;
  static constexpr std::uint64_t rounds_ahead = PieceRing::pieces_ahead;

  /// What a rank tells of a call in which data is cut into rounds. Calls use two of them in turn: nobody is two calls
  /// ahead of a reader.
  struct alignas(apart) Call {
    std::uint64_t staged = 0;  ///< rounds of all calls whose operands the others may read
    mpi::SharedPlace in;       ///< where the operands themselves can be read,
    mpi::SharedPlace out;      ///< and the result be written, in memory that the node shares, if so
  };
  struct alignas(apart) Reduced {
    std::uint64_t rounds = 0;       ///< of all calls, whose results the others may read
    std::uint64_t failed_call = 0;  ///< the last one in which combining threw
  };
  struct alignas(apart) Copied {
    std::uint64_t rounds = 0;  ///< of all calls, whose results this rank needs no more
  };
  /// Of the last calls, each rank's: in full only for those who find that they differ.
  struct alignas(apart) Arguments {
    std::uint64_t of_calls[slots];  // NOLINT(*-avoid-c-arrays): as above
  };
  struct Control {
    Call calls[2];  // NOLINT(*-avoid-c-arrays): lies in shared memory as it stands here
    Reduced reduced;
    Copied copied;
    Arguments arguments;
  };

  /// Nothing where the node has too little shared memory. Collective over the ranks of each node; all get the same.
  [[nodiscard]] static std::optional<Board> make(mpi::Context& context);

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(segments_.size()); }
  [[nodiscard]] int rank() const noexcept { return rank_; }

  [[nodiscard]] Control& control(int rank) const noexcept { return *reinterpret_cast<Control*>(segment(rank)); }

  /// What a rank tells of each call, `Arguments`, and contributes to one in one hop: up to `slot_capacity()` bytes.
  /// Few of them lie beside the number of the call, so that a reader of little data waits for a single cache line; many
  /// on lines of their own.
  [[nodiscard]] std::uint64_t& slot_call(int rank, std::uint64_t call) const noexcept {
    return *reinterpret_cast<std::uint64_t*>(slot(rank, call));
  }
  [[nodiscard]] std::uint64_t& arguments(int rank, std::uint64_t call) const noexcept {
    return control(rank).arguments.of_calls[call % slots];
  }
  [[nodiscard]] std::byte* slot_data(int rank, std::uint64_t call, Index bytes) const noexcept {
    return slot(rank, call) + (bytes <= few_bytes ? few_at : many_at);
  }
  [[nodiscard]] Index slot_capacity() const noexcept { return slot_bytes_ - many_at; }

  /// What rank `from` has of the elements that rank `owner`, another one, reduces in a round; up to `piece_bytes()` of
  /// them, at their place in a ring.
  [[nodiscard]] std::byte* staged(int from, int owner, Index place) const noexcept {
    const int ring = (owner - from - 1 + ranks()) % ranks();
    return segment(from) + staged_at_ + ring * PieceRing::bytes_for(piece_bytes_) + place;
  }
  /// What rank `owner` reduced in a round, likewise.
  [[nodiscard]] std::byte* result(int owner, Index place) const noexcept {
    return segment(owner) + results_at_ + place;
  }
  [[nodiscard]] Index piece_bytes() const noexcept { return piece_bytes_; }

 private:
  static constexpr Index slots_at = sizeof(Control);
  static constexpr Index few_at = alignof(std::max_align_t);
  static constexpr Index many_at = 64;

  Board(mpi::Context& context, Index slot_bytes, Index piece_bytes);
  [[nodiscard]] std::byte* segment(int rank) const noexcept { return segments_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::byte* slot(int rank, std::uint64_t call) const noexcept {
    return segment(rank) + slots_at + static_cast<Index>(call % slots) * slot_bytes_;
  }

  int rank_;
  Index slot_bytes_;
  Index piece_bytes_;
  Index staged_at_;
  Index results_at_;
  mpi::SharedPool::Lease memory_;
  std::vector<std::byte*> segments_;  // by rank
};

}  // namespace plait::collective::node
