#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "plait/base/memory.hpp"
#include "plait/collective/node/board.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/collective/node/slots.hpp"
#include "plait/collective/node/wait.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/store_choice.hpp"

namespace plait::collective::node {

/// Reductions of data of any length: every rank reduces its slice, piece by piece in rounds. In a round a rank stages
/// what it has of the others' pieces, reduces its own piece from their stages and its own memory, and copies what the
/// others have reduced. Operands and results in memory that the node shares are read and written where they lie.
///
/// Prefixes are passed on, in rounds as well, from a rank to the next one, which combines them with its own operand.
///
/// A stage is used again when all have reduced what was in it, a result when all have copied it; the order of steps is
/// the same on all ranks, and no step waits for a later one of another rank.
class Rounds {
 public:
  /// All outlive this.
  Rounds(mpi::Context& context, const Board& board, Slots& slots, const Wait& wait, simd::Isa isa);

  /// Collective over the node.
  /// \pre  an element fits a piece
  /// \throws ArgumentError  on all ranks, these have different arguments
  /// \throws what combining threw on this rank, or PeerFailed where it threw on another
  /// \throws ArgumentError  this rank can't see any more where another's operand or result is; the others: PeerFailed
  void run(const Reduction& reduction);

 private:
  // A rank in this call, and what is known of how far it is in all of them.
  struct Peer {
    int context_rank = 0;
    const std::byte* in = nullptr;  // where its operand can be read, if it can
    std::byte* out = nullptr;       // where its result can be written, if it can
    bool copies = false;            // gets a result, from where the others reduced it
    std::uint64_t staged = 0;
    std::uint64_t reduced = 0;
    std::uint64_t copied = 0;
  };

  // Prefixes go from rank to rank.
  void run_chain(const Reduction& reduction);
  void pass_on(const Reduction& reduction, Index round);

  void begin(const Reduction& reduction);
  void plan(const Reduction& reduction);
  void meet(const Reduction& reduction);
  void see_places(int rank);
  void stage_first(const Reduction& reduction);
  void stage(const Reduction& reduction, Index round);
  void reduce(const Reduction& reduction, Index round);
  void hand_out(const Reduction& reduction, const SlicePart& piece, const std::byte* result, std::byte* own);
  void copy(const Reduction& reduction, Index round);
  void finish(const Reduction& reduction);

  void await_staged(int rank, std::uint64_t rounds);
  void await_reduced(int rank, std::uint64_t rounds);
  void await_copied(int rank, std::uint64_t rounds);
  void publish_staged(std::uint64_t rounds);

  // What a rank is to reduce in a round.
  [[nodiscard]] SlicePart piece(const Reduction& reduction, int owner, Index round) const {
    return piece_of(reduction.begins, owner, round, length_);
  }
  [[nodiscard]] std::byte* stage_of(int from, int owner, Index round) const {
    return board_->staged(from, owner, ring_.place(round));
  }
  [[nodiscard]] std::byte* result_of(int owner, Index round) const { return board_->result(owner, ring_.place(round)); }
  [[nodiscard]] std::byte* place_of_result(const Reduction& reduction, std::byte* own, std::byte* for_others) const;

  [[nodiscard]] Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Board::Call& call_of(int rank) const { return board_->control(rank).calls[call_ % 2]; }
  // Of all calls, with `round` of this one.
  [[nodiscard]] std::uint64_t count(Index round) const { return before_ + static_cast<std::uint64_t>(round) + 1; }
  void move(std::byte* to, const std::byte* from, Index bytes) const;

  mpi::Context* context_;
  const Board* board_;
  Slots* slots_;
  const Wait* wait_;
  simd::Isa isa_;
  Buffer scratch_;  // a piece
  PieceRing ring_;  // all stages and results of a round have the same place in theirs
  simd::StoreChoice into_stages_;
  simd::StoreChoice into_results_;
  std::vector<Peer> peers_;
  std::vector<const std::byte*> operands_;

  std::uint64_t call_ = 0;
  std::uint64_t before_ = 0;  // rounds of the calls before this one
  Index rounds_ = 0;          // of this call
  Index length_ = 0;          // of a piece, in elements
  bool streams_ = false;
  bool copied_by_others_ = false;
  bool some_share_ = false;  // operands or results
  std::exception_ptr failure_;
};

}  // namespace plait::collective::node
