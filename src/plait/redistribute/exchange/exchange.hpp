#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/exchange/in_place.hpp"
#include "plait/redistribute/exchange/mover.hpp"
#include "plait/redistribute/exchange/node_rings.hpp"
#include "plait/redistribute/exchange/stream.hpp"
#include "plait/redistribute/options.hpp"
#include "plait/redistribute/packages/pieces.hpp"
#include "plait/redistribute/planned_matrix.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/simd/store_choice.hpp"
#include "plait/simd/stores.hpp"

namespace plait::redistribute {

/// What decides how the matrices of a plan are exchanged; the same on all ranks.
struct ExchangeKind {
  std::vector<Index> element_bytes;  ///< by matrix, 0 for one that does not take part as its alpha is 0
  bool sources_are_shared = false;   ///< whether all source tiles of all ranks lie in the context's shared memory
  bool targets_are_shared = false;   ///< likewise the target tiles
  friend auto operator<=>(const ExchangeKind&, const ExchangeKind&) = default;
};

/// The packages of a plan's matrices cut into chunks, and the schedule that moves them. Within a node chunks are read
/// or written in place where sources or targets are shared (`InPlace`), and go through `NodeRings` where they are not.
/// They are messages between nodes, where shared memory is short, and where the options want them.
///
/// Made in three steps, each of which all ranks have finished before the next one begins: cut, share_memory, build.
class Exchange {
 public:
  /// Cuts. Local.
  /// \param matrices       outlive it
  /// \param element_bytes  by matrix, as in `ExchangeKind`
  /// \param rings          null: of its own
  Exchange(mpi::Context& context, std::deque<PlannedMatrix>& matrices, std::vector<Index> element_bytes,
           const Options& options, std::shared_ptr<RingMemory> rings);
  /// What this rank sends to others of its node.
  [[nodiscard]] NodeTraffic traffic_in_node() const;
  /// Takes the memory that ranks of a node share. Collective over the context.
  /// \param traffic  at least that of each rank of the node, and the same on all of them
  void share_memory(const ExchangeKind& kind, NodeTraffic traffic);
  /// Makes the schedule. Local.
  void build();

  [[nodiscard]] schedule::Schedule& schedule() { return *schedule_; }

 private:
  using PackagesByPeer = std::map<int, std::vector<PackageToCut>>;

  [[nodiscard]] bool is_neighbour(int peer) const;
  [[nodiscard]] bool by_message(const Stream& stream) const;
  [[nodiscard]] std::vector<Stream> streams(const PackagesByPeer& packages, bool outgoing) const;
  void share_rings(NodeTraffic traffic);
  void share_tiles(const ExchangeKind& kind);

  [[nodiscard]] schedule::PoolId add_pool(schedule::Graph& graph, std::span<const Stream> streams, Index blocks) const;
  [[nodiscard]] Index message_blocks() const;
  void add_messages(schedule::Graph& graph);
  void add_messages_out(schedule::Graph& graph, Index blocks);
  void add_messages_in(schedule::Graph& graph, Index blocks);
  void add_rings(schedule::Graph& graph);
  void add_ring_out(schedule::Graph& graph, const Stream& stream);
  void add_ring_in(schedule::Graph& graph, const Stream& stream);
  /// `of` the matrices that take part: source_tiles or target_tiles.
  [[nodiscard]] Index count_tiles(std::vector<layout::TileExtent> PlannedMatrix::* of) const;
  void add_own_moves(schedule::Graph& graph);

  void pack(const Chunk& chunk, Index step, std::byte* message, simd::Stores stores);
  void unpack(const Chunk& chunk, Index step, const std::byte* message);
  void move(const schedule::Run& run, const Chunk& chunk, Index step);

  mpi::Context& context_;
  std::deque<PlannedMatrix>& matrices_;
  const std::vector<Index> element_bytes_;
  const Options options_;
  Index slot_bytes_ = 0;  // what rings may have, 0 for none
  std::shared_ptr<RingMemory> ring_memory_;
  std::vector<std::optional<Mover>> movers_;  // of the matrices that take part
  std::vector<Stream> outgoing_, incoming_;
  std::vector<Chunk> own_;
  bool is_interleaved_ = false;  // what goes to others of the node, with what stays, in the source
  std::optional<NodeRings> rings_;
  std::optional<simd::StoreChoice> into_slots_;  // of the rings
  std::unique_ptr<InPlace> in_place_;
  std::optional<schedule::Schedule> schedule_;  // last, so that a run under way ends while the rest is there
};

}  // namespace plait::redistribute
