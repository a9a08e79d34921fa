#include "plait/redistribute/plan.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/layout/check_tiles.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/message.hpp"
#include "plait/simd/isa.hpp"

namespace plait::redistribute {

namespace {

using layout::Layout;
using schedule::OperationId;
using schedule::Position;

constexpr Index least_budget = 4096;
constexpr Index step_bytes = Index{1} << 20;  // about 0.2 ms of copying between two looks at the network
constexpr Index most_under_way = 64;          // messages in each direction
constexpr Index after_messages = INT64_MAX;   // the stage of what stays on the rank: done while nothing else can be

// In the order of messages all packages advance together, each rank beginning with its next neighbour: no rank is the
// first target of all others.
Position position_of(Index chunk, int from, int to, int ranks) {
  return {.stage = chunk, .strand = 0, .segment = (to - from + ranks) % ranks};
}

template <class Message>
std::vector<Message> messages_of(std::span<const Package> packages, const Cut& how) {
  std::vector<Message> messages;
  for (const Package& package : packages) {
    Index number = 0;
    for (Chunk& chunk : cut(package, how)) messages.push_back({package.peer, number++, std::move(chunk)});
  }
  return messages;
}

template <class Message>
schedule::PoolId add_pool(schedule::Graph& graph, const std::vector<Message>& messages, Index blocks,
                          Index element_bytes) {
  Index largest = 0;
  for (const Message& message : messages) largest = std::max(largest, message.chunk.elements);
  return graph.pool(largest * element_bytes, std::clamp(static_cast<Index>(messages.size()), Index{1}, blocks));
}

}  // namespace

Redistribution::Plan::Plan(mpi::Context& context, Layout from_layout, Layout to_layout, Op operation, Options options)
    : from(std::move(from_layout)),
      to(std::move(to_layout)),
      op(operation),
      context_(context),
      options_(std::move(options)),
      op_from_(transposes(operation) ? from.transposed() : from) {
  context.expect_usable();
  std::exception_ptr failure;
  try {
    expect_layouts();
    const std::vector<layout::TilePosition> tiles = from.owners().owned_by(context.rank());
    for (const layout::TilePosition tile : op_from_.owners().owned_by(context.rank())) {
      const layout::TilePosition original = transposes(op) ? layout::TilePosition{tile.column, tile.row} : tile;
      source_order_.push_back(std::lower_bound(tiles.begin(), tiles.end(), original) - tiles.begin());
    }
    packages_.emplace(op_from_, to, context.rank());
  } catch (...) {
    failure = std::current_exception();
  }
  agree_on_options(failure);
}

void Redistribution::Plan::expect_layouts() const {
  static_cast<void>(simd::selected_isa());  // an unknown PLAIT_ISA is told here, not under way
  if (apply(op, from.shape()) != to.shape()) {
    throw ShapeMismatch("op(B) is " + layout::to_string(apply(op, from.shape())) + ", A is " +
                        layout::to_string(to.shape()) + ": from " + layout::describe(from) + " to " +
                        layout::describe(to));
  }
  for (const auto& [name, layout] : {std::pair("from", &from), std::pair("to", &to)}) {
    if (layout->ranks() <= context_.size()) continue;
    throw LayoutError(std::string(name) + ": " + layout::describe(*layout) + " needs " +
                      std::to_string(layout->ranks()) + " ranks, there are " + std::to_string(context_.size()));
  }
  if (options_.memory_budget < least_budget || options_.chunk_bytes < 16) {
    throw ArgumentError("memory_budget: " + std::to_string(options_.memory_budget) +
                        " and chunk_bytes: " + std::to_string(options_.chunk_bytes) + " bytes, expected at least " +
                        std::to_string(least_budget) + " and 16");
  }
}

// One all-reduce: who failed, the least of the limits, and whether all ranks mean the same redistribution.
void Redistribution::Plan::agree_on_options(const std::exception_ptr& failure) {
  const auto identity = static_cast<Index>(
      std::hash<std::string>{}(layout::describe(from) + layout::describe(to) + std::to_string(static_cast<int>(op))) >>
      1);
  std::array<Index, 4> minima{options_.memory_budget, options_.chunk_bytes, identity, -identity};
  mpi::agree(context_, failure, minima);
  if (minima[2] != -minima[3]) {
    throw ArgumentError("the ranks plan different redistributions; rank " + std::to_string(context_.rank()) +
                        ": from " + layout::describe(from) + " to " + layout::describe(to));
  }
  options_.memory_budget = minima[0];
  options_.chunk_bytes = std::min({minima[1], mpi::longest_message, minima[0] / 4});
}

Redistribution::Volume Redistribution::Plan::volume() const noexcept {
  Volume volume;
  for (const Package& package : packages_->outgoing()) volume.sent += package.elements;
  for (const Package& package : packages_->incoming()) volume.received += package.elements;
  volume.kept = packages_->own().elements;
  return volume;
}

// Collective; on failure no rank keeps it.
Redistribution::Plan::Exchange& Redistribution::Plan::new_exchange(Index element_bytes) {
  try {
    return mpi::agreed(context_, [&]() -> std::reference_wrapper<Exchange> {
      Exchange& exchange = exchanges_[element_bytes];
      build(exchange, element_bytes);
      exchange.schedule->prepare();
      return exchange;
    });
  } catch (...) {
    exchanges_.erase(element_bytes);
    throw;
  }
}

void Redistribution::Plan::build(Exchange& exchange, Index element_bytes) {
  const Cut how{.chunk_elements = std::max(Index{1}, options_.chunk_bytes / element_bytes),
                .piece_elements = std::max(Index{1}, std::min(step_bytes, options_.chunk_bytes) / element_bytes),
                .packed = op_from_.storage(),
                .turned = op_from_.storage() != to.storage()};
  const Index blocks = std::max(Index{1}, options_.memory_budget / 2 / (how.chunk_elements * element_bytes));
  exchange.mover.emplace(how.packed, packages_->most_runs(), how.piece_elements);
  exchange.outgoing = messages_of<Exchange::Message>(packages_->outgoing(), how);
  exchange.incoming = messages_of<Exchange::Message>(packages_->incoming(), how);
  exchange.own = cut(packages_->own(), how);

  schedule::Graph graph;
  add_sends(exchange, graph, blocks, element_bytes);
  add_receives(exchange, graph, blocks, element_bytes);
  add_own_moves(exchange, graph);
  const auto window = static_cast<int>(std::min(blocks, most_under_way));
  exchange.schedule.emplace(context_, std::move(graph), options_.label, schedule::Windows{window, window, 1});
}

void Redistribution::Plan::add_sends(Exchange& exchange, schedule::Graph& graph, Index blocks, Index element_bytes) {
  const schedule::PoolId pool = add_pool(graph, exchange.outgoing, blocks, element_bytes);
  for (const auto& [peer, number, chunk] : exchange.outgoing) {
    const Position position = position_of(number, context_.rank(), peer, context_.size());
    const schedule::SlotId staging = graph.staging(pool);
    const OperationId packed = graph.compute(
        position, chunk.steps(),
        [this, &exchange, &packing = chunk, staging, element_bytes](const schedule::Run& run, Index step) {
          for (const Piece& piece : packing.step(step)) {
            exchange.mover->pack(piece, source_of(piece), run.address(staging), element_bytes);
          }
        },
        {staging});
    graph.send(position, peer, {staging, 0, chunk.elements * element_bytes}, {packed});
  }
}

void Redistribution::Plan::add_receives(Exchange& exchange, schedule::Graph& graph, Index blocks, Index element_bytes) {
  const schedule::PoolId pool = add_pool(graph, exchange.incoming, blocks, element_bytes);
  for (const auto& [peer, number, chunk] : exchange.incoming) {
    const Position position = position_of(number, peer, context_.rank(), context_.size());
    const schedule::SlotId staging = graph.staging(pool);
    const OperationId arrived = graph.receive(position, peer, {staging, 0, chunk.elements * element_bytes});
    graph.compute(position, chunk.steps(),
                  [this, &exchange, &unpacking = chunk, staging](const schedule::Run& run, Index step) {
                    for (const Piece& piece : unpacking.step(step)) {
                      exchange.mover->unpack(piece, run.address(staging), target_of(piece), transform_);
                    }
                  },
                  {staging}, {arrived});
  }
}

void Redistribution::Plan::add_own_moves(Exchange& exchange, schedule::Graph& graph) {
  for (const Chunk& chunk : exchange.own) {
    graph.compute({.stage = after_messages}, chunk.steps(),
                  [this, &exchange, &chunk](const schedule::Run& run, Index step) {
                    for (const Piece& piece : chunk.step(step)) {
                      exchange.mover->move(piece, source_of(piece), target_of(piece), transform_);
                      run.count_own_move(piece.rows * piece.columns * transform_.element_bytes());
                    }
                  });
  }
}

template <class T>
std::vector<TileMemory> Redistribution::Plan::memory_of(std::span<const matrix_view<T>> tiles) {
  std::vector<TileMemory> memory;
  memory.reserve(tiles.size());
  for (const matrix_view<T>& tile : tiles) {
    auto* data = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(tile.data()));
    memory.push_back({{data, tile.leading_dimension(), tile.order()}, tile.minor_extent(), tile.major_extent()});
  }
  return memory;
}

void Redistribution::Plan::expect_disjoint(std::span<const TileMemory> source, std::span<const TileMemory> target,
                                           Index element_bytes) const {
  const Overlap overlap = find_overlap(source, target, element_bytes);
  if (overlap.source < 0) return;
  throw ArgumentError("source tile " + std::to_string(overlap.source) + " and target tile " +
                      std::to_string(overlap.target) + " of rank " + std::to_string(context_.rank()) +
                      " have memory in common: A and B must not overlap");
}

// One all-reduce agrees that every rank can do its part and that all mean the same: after it nothing fails for want of
// memory or for a wrong argument.
template <class T>
void Redistribution::Plan::start(T alpha, std::span<const matrix_view<const T>> source, T beta,
                                 std::span<const matrix_view<T>> target) {
  PLAIT_ASSERT(active_ == nullptr, "one execution of a plan at a time");
  constexpr Index bytes = sizeof(T);
  const bool reads_source = alpha != T{0};
  const auto known = exchanges_.find(bytes);
  std::vector<TileMemory> target_memory;
  std::exception_ptr failure;
  try {
    context_.expect_usable();
    layout::check_tiles(to, context_.rank(), target);
    target_memory = memory_of(target);
    if (reads_source) {
      layout::check_tiles(from, context_.rank(), source);
      const std::vector<TileMemory> source_memory = memory_of(source);
      expect_disjoint(source_memory, target_memory, bytes);
      bind(source_memory, target_memory);
      if (known != exchanges_.end()) known->second.schedule->prepare();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const Index meaning = bytes * 2 + (reads_source ? 1 : 0);
  std::array<Index, 2> minima{meaning, -meaning};
  mpi::agree(context_, failure, minima);
  if (minima[0] != -minima[1]) {
    throw ArgumentError("alpha or the element type: the ranks execute a redistribution with different ones; rank " +
                        std::to_string(context_.rank()) + " has alpha " + (reads_source ? "!= 0" : "== 0") +
                        " and elements of " + std::to_string(bytes) + " bytes");
  }

  Index target_bytes = 0;
  for (const TileMemory& memory : target_memory) target_bytes += memory.minor * memory.major * bytes;
  const bool past_caches = simd::streams(simd::Stores::automatic, target_bytes);
  transform_ =
      Transform::make(alpha, conjugates(op), beta, past_caches ? simd::Stores::streaming : simd::Stores::cached);
  if (!reads_source) {
    scale_target(target_memory);
    return;
  }
  active_ = known != exchanges_.end() ? &known->second : &new_exchange(bytes);
  active_->schedule->start();
}

void Redistribution::Plan::bind(std::span<const TileMemory> source, std::span<const TileMemory> target) {
  source_.clear();
  for (const Index tile : source_order_) {
    source_.push_back(source[static_cast<std::size_t>(tile)].tile);
    if (transposes(op)) source_.back().order = flipped(source_.back().order);
  }
  target_.clear();
  for (const TileMemory& memory : target) target_.push_back(memory.tile);
}

// A ← beta·A, for alpha == 0: no rank reads B, so there is nothing to send.
void Redistribution::Plan::scale_target(std::span<const TileMemory> target) const {
  for (const auto& [tile, minor, major] : target) {
    for (Index j = 0; j < major; ++j) {
      transform_.run(minor, nullptr, tile.data + j * tile.leading_dimension * transform_.element_bytes());
    }
  }
}

bool Redistribution::Plan::progress() { return active_ == nullptr || active_->schedule->progress(); }

void Redistribution::Plan::wait() {
  if (active_ != nullptr) std::exchange(active_, nullptr)->schedule->wait();
}

Redistribution::Redistribution(mpi::Context& context, Layout from, Layout to, Op op, Options options)
    : plan_(std::make_unique<Plan>(context, std::move(from), std::move(to), op, std::move(options))) {}
Redistribution::Redistribution(Redistribution&&) noexcept = default;
Redistribution& Redistribution::operator=(Redistribution&&) noexcept = default;
Redistribution::~Redistribution() = default;

bool Redistribution::progress() { return plan_->progress(); }
void Redistribution::wait() { plan_->wait(); }
const Layout& Redistribution::from() const noexcept { return plan_->from; }
const Layout& Redistribution::to() const noexcept { return plan_->to; }
Op Redistribution::op() const noexcept { return plan_->op; }
Redistribution::Volume Redistribution::volume() const noexcept { return plan_->volume(); }

template <class T>
void Redistribution::start(T alpha, std::span<const matrix_view<const T>> source, T beta,
                           std::span<const matrix_view<T>> target) {
  plan_->start(alpha, source, beta, target);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE_(T)                                                                        \
  template void Redistribution::start(T alpha, std::span<const matrix_view<const T>> source, T beta, \
                                      std::span<const matrix_view<T>> target)
PLAIT_INSTANTIATE_(std::int8_t);
PLAIT_INSTANTIATE_(std::int16_t);
PLAIT_INSTANTIATE_(std::int32_t);
PLAIT_INSTANTIATE_(std::int64_t);
PLAIT_INSTANTIATE_(std::uint8_t);
PLAIT_INSTANTIATE_(std::uint16_t);
PLAIT_INSTANTIATE_(std::uint32_t);
PLAIT_INSTANTIATE_(std::uint64_t);
PLAIT_INSTANTIATE_(float);
PLAIT_INSTANTIATE_(double);
PLAIT_INSTANTIATE_(std::complex<float>);
PLAIT_INSTANTIATE_(std::complex<double>);
#undef PLAIT_INSTANTIATE_
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::redistribute
