#include "plait/redistribute/exchange/exchange.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/rounding.hpp"
#include "plait/mpi/message.hpp"
#include "plait/redistribute/exchange/chunk_positions.hpp"

namespace plait::redistribute {

namespace {

using schedule::OperationId;
using schedule::Position;

constexpr Index step_bytes = Index{1} << 20;      // about 0.2 ms of copying between two looks at the network
constexpr Index shared_chunk = Index{512} << 10;  // through memory: several of them stay in the caches
// What was read for a chunk and lies between its runs is to be in a core's own cache when it is moved itself.
constexpr Index interleaved_chunk = Index{256} << 10;
constexpr Index longest_element = 16;  // blocks of staging memory begin where any lies aligned, as in its chunk
constexpr Index most_under_way = 32;   // messages in each direction; MPI looks at all of them again and again

}  // namespace

Exchange::Exchange(mpi::Context& context, std::deque<PlannedMatrix>& matrices, std::vector<Index> element_bytes,
                   const Options& options, std::shared_ptr<RingMemory> rings)
    : context_(context),
      matrices_(matrices),
      element_bytes_(std::move(element_bytes)),
      options_(options),
      ring_memory_(rings ? std::move(rings) : std::make_shared<RingMemory>(context)),
      movers_(element_bytes_.size()) {
  if (options_.within_node == WithinNode::shared_memory) {
    slot_bytes_ =
        NodeRings::longest_slot(context, std::min(options_.chunk_bytes, shared_chunk), options_.memory_budget / 2);
  }
  const std::vector<Index>& sizes = element_bytes_;
  const Index step = std::min(step_bytes, options_.chunk_bytes);
  PackagesByPeer outgoing, incoming;
  std::vector<PackageToCut> own;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) continue;
    const PlannedMatrix& matrix = matrices_[i];
    const Packages& packages = matrix.packages;
    const StorageOrder packed = matrix.op_from.storage();
    movers_[i].emplace(matrix.pair.to, packed, packages.most_runs(), step / sizes[i], context.topology());
    const auto to_cut = [&](const Package& package) {
      return PackageToCut{&package, i, sizes[i], packed, packed != matrix.pair.to.storage()};
    };
    for (const Package& package : packages.outgoing()) outgoing[package.peer].push_back(to_cut(package));
    for (const Package& package : packages.incoming()) incoming[package.peer].push_back(to_cut(package));
    own.push_back(to_cut(packages.own()));
  }
  outgoing_ = streams(outgoing, true);
  incoming_ = streams(incoming, false);
  is_interleaved_ = slot_bytes_ > 0 && std::ranges::any_of(outgoing, [&](const auto& stream) {
                      return is_neighbour(stream.first) && is_interleaved(stream.second);
                    });
  Index own_chunk = slot_bytes_ > 0 ? slot_bytes_ : options_.chunk_bytes;
  if (is_interleaved_) own_chunk = std::min(own_chunk, interleaved_chunk);
  own_ = cut(own, {.chunk_bytes = own_chunk, .step_bytes = std::min(step, own_chunk)});
}

bool Exchange::is_neighbour(int peer) const { return context_.topology().class_of(peer) == PeerClass::node; }

bool Exchange::by_message(const Stream& stream) const { return !(rings_ || in_place_) || !is_neighbour(stream.peer); }

// Both ends of a stream cut alike.
std::vector<Stream> Exchange::streams(const PackagesByPeer& packages, bool outgoing) const {
  const int rank = context_.rank();
  std::vector<Stream> result;
  for (const auto& [peer, to_cut] : packages) {
    Index longest = options_.chunk_bytes;
    if (!is_neighbour(peer))
      longest = std::min(longest, mpi::network_message);
    else if (slot_bytes_ > 0)
      longest = is_interleaved(to_cut) ? std::min(slot_bytes_, interleaved_chunk) : slot_bytes_;
    result.push_back({.from = outgoing ? rank : peer,
                      .to = outgoing ? peer : rank,
                      .peer = peer,
                      .chunks = cut(to_cut, {.chunk_bytes = longest, .step_bytes = std::min(step_bytes, longest)})});
  }
  return result;
}

NodeTraffic Exchange::traffic_in_node() const {
  NodeTraffic most;
  for (const Stream& stream : outgoing_) {
    if (!is_neighbour(stream.peer)) continue;
    most.longest_chunk = std::max(most.longest_chunk, stream.longest_chunk());
    most.most_chunks = std::max(most.most_chunks, std::ssize(stream.chunks));
  }
  return most;
}

void Exchange::build() {
  schedule::Graph graph;
  add_messages(graph);
  if (rings_) add_rings(graph);
  if (in_place_) in_place_->add_to(graph);
  add_own_moves(graph);
  const auto window = static_cast<int>(std::min(message_blocks(), most_under_way));
  schedule_.emplace(context_, std::move(graph), options_.label, schedule::Windows{window, window, 1});
  schedule_->prepare();
}

// How many messages of each direction have staging memory at once.
Index Exchange::message_blocks() const {
  Index longest = 1;
  for (const auto* side : {&outgoing_, &incoming_}) {
    for (const Stream& stream : *side) {
      if (by_message(stream)) longest = std::max(longest, stream.longest_chunk());
    }
  }
  return std::max(Index{1}, options_.memory_budget / 2 / rounded_up(longest, longest_element));
}

void Exchange::add_messages(schedule::Graph& graph) {
  const auto any = [this](const std::vector<Stream>& streams) {
    return std::any_of(streams.begin(), streams.end(), [this](const Stream& stream) { return by_message(stream); });
  };
  if (any(outgoing_)) add_messages_out(graph, message_blocks());
  if (any(incoming_)) add_messages_in(graph, message_blocks());
}

schedule::PoolId Exchange::add_pool(schedule::Graph& graph, std::span<const Stream> streams, Index blocks) const {
  Index longest = 0;
  Index count = 0;
  for (const Stream& stream : streams) {
    if (!by_message(stream)) continue;
    longest = std::max(longest, stream.longest_chunk());
    count += static_cast<Index>(stream.chunks.size());
  }
  return graph.pool(rounded_up(longest, longest_element), std::clamp(count, Index{1}, blocks));
}

void Exchange::add_messages_out(schedule::Graph& graph, Index blocks) {
  const schedule::PoolId pool = add_pool(graph, outgoing_, blocks);
  for (const Stream& stream : outgoing_) {
    if (!by_message(stream)) continue;
    for (Index number = 0; const Chunk& chunk : stream.chunks) {
      const Position position = position_of_delivery(number++, stream.from, stream.to, context_.size());
      const schedule::SlotId staging = graph.staging(pool);
      const OperationId packed = graph.compute(position, chunk.steps(),
                                               [this, &chunk, staging](const schedule::Run& run, Index step) {
                                                 pack(chunk, step, run.address(staging), simd::Stores::cached);
                                               },
                                               {staging});
      graph.send(position, stream.peer, {staging, 0, chunk.bytes}, {packed});
    }
  }
}

void Exchange::add_messages_in(schedule::Graph& graph, Index blocks) {
  const schedule::PoolId pool = add_pool(graph, incoming_, blocks);
  for (const Stream& stream : incoming_) {
    if (!by_message(stream)) continue;
    for (Index number = 0; const Chunk& chunk : stream.chunks) {
      const Position position = position_of_delivery(number++, stream.from, stream.to, context_.size());
      const schedule::SlotId staging = graph.staging(pool);
      const OperationId arrived = graph.receive(position, stream.peer, {staging, 0, chunk.bytes});
      graph.compute(
          position, chunk.steps(),
          [this, &chunk, staging](const schedule::Run& run, Index step) { unpack(chunk, step, run.address(staging)); },
          {staging}, {arrived});
    }
  }
}

// What stays on the rank goes in step with what is read or written in place, and with what was packed from between it,
// unless messages wait for nothing but their turn.
void Exchange::add_own_moves(schedule::Graph& graph) {
  Index stages = 0;
  bool in_step = in_place_ || is_interleaved_;
  for (const Stream& stream : outgoing_) {
    stages = std::max(stages, static_cast<Index>(stream.chunks.size()));
    in_step = in_step && !by_message(stream);
  }
  const auto chunks = static_cast<Index>(own_.size());
  for (Index number = 0; const Chunk& chunk : own_) {
    const Index stage = quotient_up(number++ * stages, chunks);  // of which all has been read
    const Position position = in_step ? position_of_own(stage, context_.size()) : position_after_messages();
    graph.compute(position, chunk.steps(),
                  [this, &chunk](const schedule::Run& run, Index step) { move(run, chunk, step); });
  }
}

void Exchange::pack(const Chunk& chunk, Index step, std::byte* message, simd::Stores stores) {
  for (const PanelPiece& piece : chunk.step(step)) {
    const PlannedMatrix& matrix = matrices_[piece.matrix];
    movers_[piece.matrix]->pack(piece, matrix.source[static_cast<std::size_t>(piece.panel->source_tile)], message,
                                matrix.transform.element_bytes(), stores);
  }
}

void Exchange::unpack(const Chunk& chunk, Index step, const std::byte* message) {
  for (const PanelPiece& piece : chunk.step(step)) {
    const PlannedMatrix& matrix = matrices_[piece.matrix];
    movers_[piece.matrix]->unpack(piece, message, matrix.target[static_cast<std::size_t>(piece.panel->target_tile)],
                                  matrix.transform);
  }
}

void Exchange::move(const schedule::Run& run, const Chunk& chunk, Index step) {
  for (const PanelPiece& piece : chunk.step(step)) {
    const PlannedMatrix& matrix = matrices_[piece.matrix];
    movers_[piece.matrix]->move(piece, matrix.source[static_cast<std::size_t>(piece.panel->source_tile)],
                                matrix.target[static_cast<std::size_t>(piece.panel->target_tile)], matrix.transform);
    run.count_own_move(piece.rows * piece.columns * matrix.transform.element_bytes());
  }
}

}  // namespace plait::redistribute
