#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/exchange/mover.hpp"
#include "plait/redistribute/exchange/shared_tiles.hpp"
#include "plait/redistribute/exchange/stream.hpp"
#include "plait/redistribute/planned_matrix.hpp"
#include "plait/schedule/graph.hpp"

namespace plait::redistribute {

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
