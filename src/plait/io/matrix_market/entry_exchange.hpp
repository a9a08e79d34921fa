#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/io/matrix_market/matrix_market_entries.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

/// An element on its way: where it belongs among the elements of the rank that gets it.
template <class T>
struct PlacedEntry {
  Index place = 0;
  T value{};
};

/// Brings elements to the ranks that hold them, a bounded number at a time: each rank gathers elements for others
/// until its outbox is full, then all ranks deliver, in as many turns as it takes for no inbox to overflow.
template <MatrixMarketElement T>
class EntryExchange {
 public:
  static constexpr Index usual_box_bytes = Index{32} << 20;

  /// Allocates all memory that there will be. The outbox and the inbox have `box_bytes` bytes each, but room for two
  /// elements at least, and for one of each sender.
  ///
  /// \pre  layout is a `slab_layout` by columns over the ranks of the context
  EntryExchange(mpi::Context& context, const layout::Layout& layout, Index box_bytes = usual_box_bytes);

  /// Whether an element belongs to this rank, and the place of such a one among this rank's.
  [[nodiscard]] bool is_own(const MatrixEntry<T>& entry) const noexcept {
    return entry.column >= own_begin_ && entry.column < own_end_;
  }
  [[nodiscard]] Index own_place(const MatrixEntry<T>& entry) const noexcept {
    return (entry.column - own_begin_) * rows_ + entry.row;
  }

  /// Gathers an element of another rank.
  ///
  /// \pre  !is_own(entry), and there is room
  void add(const MatrixEntry<T>& entry);

  /// Whether there may be no room for one more element and its mirror image.
  [[nodiscard]] bool full() const noexcept { return context_.size() > 1 && gathered_ + 2 > outbox_.size(); }

  /// Delivers what was gathered and calls f(span of PlacedEntry) with what came for this rank, in any number of parts.
  /// Every rank throws what f threw on any. Collective over the context.
  template <class F>
  void deliver(F&& f) {
    const Index turns = mpi::all_reduce(context_.comm(), sort_outbox(), mpi::Operation::maximum());
    for (Index turn = 0; turn < turns; ++turn) {
      const auto came = exchange_turn(turn);
      mpi::agreed(context_, [&] { f(came); });
    }
  }

 private:
  struct Outgoing {
    int to;
    PlacedEntry<T> entry;
  };

  /// Puts the outbox in the order of receivers and empties it; returns how many turns the fullest share of it takes.
  [[nodiscard]] Index sort_outbox();
  [[nodiscard]] std::span<const PlacedEntry<T>> exchange_turn(Index turn);

  mpi::Context& context_;
  layout::Axis columns_;
  Index rows_;
  Index own_begin_ = 0;
  Index own_end_ = 0;
  Index share_ = 0;  // how many elements a rank may send another in one turn: all shares fill an inbox

  Array<Outgoing> outbox_;
  Index gathered_ = 0;
  Array<PlacedEntry<T>> sorted_;
  std::vector<Index> begin_;  // where the elements for each rank begin in it, and where the last end
  std::vector<Index> next_;   // the same, while it is being filled
  Array<PlacedEntry<T>> parcels_;
  Array<PlacedEntry<T>> inbox_;
  std::vector<Index> sent_bytes_;  // to and from each rank in one turn
  std::vector<Index> came_bytes_;
  std::vector<Index> one_number_;  // the bytes of one to each rank
};

}  // namespace plait::io
