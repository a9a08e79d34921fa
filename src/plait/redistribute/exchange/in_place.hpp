#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/shared_pool.hpp"
#include "plait/redistribute/exchange/mover.hpp"
#include "plait/redistribute/exchange/stream.hpp"
#include "plait/redistribute/planned_matrix.hpp"
#include "plait/redistribute/tile.hpp"
#include "plait/schedule/flags.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::redistribute {

/// Where the ranks of a node find each other's tiles that lie in shared memory, to read or to write them: a board for
/// each rank, on which it offers its tiles in every execution, a flag that it has, and for each visitor a flag that
/// this one is done with them.
class SharedTiles {
 public:
  /// Collective over the ranks of each node.
  /// \param tiles  the most that a rank of the node has
  /// \throws OutOfMemory  on every rank of a node that has too little shared memory
  SharedTiles(mpi::Context& context, Index tiles);

  /// A tile as another rank finds it.
  struct Entry {
    mpi::SharedPlace place;
    Index leading_dimension;
    StorageOrder order;
  };

  /// Ranks are those of the context, on this node. What a rank has offered is true between its two flags.
  [[nodiscard]] std::span<Entry> board(int rank) const;
  [[nodiscard]] Tile tile(int rank, Index entry) const;

  [[nodiscard]] const schedule::NodeFlags& flags(int owner) const { return flags_[at(owner)]; }
  [[nodiscard]] static Index ready() { return 0; }
  [[nodiscard]] Index done(int visitor) const { return 1 + context_->topology().node_rank_of(visitor); }

 private:
  [[nodiscard]] std::size_t at(int rank) const {
    return static_cast<std::size_t>(context_->topology().node_rank_of(rank));
  }

  mpi::Context* context_;
  Index tiles_;
  Index flag_bytes_;
  mpi::SharedPool::Lease memory_;
  std::vector<schedule::NodeFlags> flags_;  // by node rank of the owner
};

/// How chunks go between ranks of a node where the tiles of one side of an exchange, its sources or its targets, lie in
/// shared memory: each rank offers those that it owns, and the others visit them there.
class InPlace {
 public:
  /// Outlive it, and the streams stay as they are.
  struct Exchanged {
    std::deque<PlannedMatrix>& matrices;
    std::vector<std::optional<Mover>>& movers;  ///< of the matrices that take part
    const std::vector<Stream>& outgoing;
    const std::vector<Stream>& incoming;
  };

  /// Collective over the ranks of each node.
  /// \param most_tiles  that a rank of the node offers
  /// \throws OutOfMemory  on every rank of a node that has too little shared memory
  InPlace(mpi::Context& context, Exchanged exchanged, Index most_tiles);
  virtual ~InPlace() = default;
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  /// Adds what this rank offers, and its visits to others of its node. Outlives the schedule.
  void add_to(schedule::Graph& graph);

 protected:
  /// What a rank offers of a matrix.
  struct Offered {
    const std::vector<Tile>& tiles;
    const std::vector<mpi::SharedPlace>& places;
    const layout::Layout& layout;
  };

  Exchanged exchanged_;

 private:
  [[nodiscard]] virtual Offered offered(const PlannedMatrix& matrix) const = 0;
  /// In the layout of what is offered.
  [[nodiscard]] virtual layout::TilePosition position_of_tile(const Panel& panel) const = 0;
  /// Which streams visitors of this rank move, and which of them it moves when it visits their peer.
  [[nodiscard]] virtual const std::vector<Stream>& moved_by_visitors() const = 0;
  [[nodiscard]] virtual const std::vector<Stream>& moved_by_visits() const = 0;
  /// What the owner is told when a visitor has done all.
  [[nodiscard]] virtual schedule::Tells told_to_owner() const = 0;
  /// Between a tile that another rank offers and one of this rank.
  virtual void move(const PanelPiece& piece, const Tile& of_owner) = 0;

  [[nodiscard]] bool is_neighbour(int peer) const;
  void add_offer(schedule::Graph& graph);
  void add_visit(schedule::Graph& graph, const Stream& stream);
  void find_tiles(const Stream& stream);
  void write_board();

  mpi::Context& context_;
  SharedTiles tiles_;
  std::map<const Panel*, Index> entries_;  // of tiles of others, on their boards
};

/// Those who want data read them from the sources of others.
class SourcesInPlace final : public InPlace {
 public:
  using InPlace::InPlace;

 private:
  [[nodiscard]] Offered offered(const PlannedMatrix& matrix) const override;
  [[nodiscard]] layout::TilePosition position_of_tile(const Panel& panel) const override;
  [[nodiscard]] const std::vector<Stream>& moved_by_visitors() const override { return exchanged_.outgoing; }
  [[nodiscard]] const std::vector<Stream>& moved_by_visits() const override { return exchanged_.incoming; }
  [[nodiscard]] schedule::Tells told_to_owner() const override;
  void move(const PanelPiece& piece, const Tile& of_owner) override;
};

/// Those who have data write them into the targets of others.
class TargetsInPlace final : public InPlace {
 public:
  using InPlace::InPlace;

 private:
  [[nodiscard]] Offered offered(const PlannedMatrix& matrix) const override;
  [[nodiscard]] layout::TilePosition position_of_tile(const Panel& panel) const override;
  [[nodiscard]] const std::vector<Stream>& moved_by_visitors() const override { return exchanged_.incoming; }
  [[nodiscard]] const std::vector<Stream>& moved_by_visits() const override { return exchanged_.outgoing; }
  [[nodiscard]] schedule::Tells told_to_owner() const override;
  void move(const PanelPiece& piece, const Tile& of_owner) override;
};

}  // namespace plait::redistribute
