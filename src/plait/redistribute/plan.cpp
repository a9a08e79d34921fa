#include "plait/redistribute/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/layout/check_tiles.hpp"
#include "plait/layout/fingerprint.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/message.hpp"
#include "plait/redistribute/overlap.hpp"
#include "plait/simd/isa.hpp"

namespace plait::redistribute {

namespace {

using layout::Layout;
using schedule::OperationId;
using schedule::Position;

constexpr Index least_budget = 4096;
constexpr Index least_chunk = 16;             // the longest element
constexpr Index step_bytes = Index{1} << 20;  // about 0.2 ms of copying between two looks at the network
constexpr Index most_under_way = 64;          // messages in each direction
constexpr Index after_messages = INT64_MAX;   // the stage of what stays on the rank: done while nothing else can be

// In the order of messages all packages advance together, each rank beginning with its next neighbour: no rank is the
// first target of all others.
Position position_of(Index chunk, int from, int to, int ranks) {
  return {.stage = chunk, .strand = 0, .segment = (to - from + ranks) % ranks};
}

template <class Message>
schedule::PoolId add_pool(schedule::Graph& graph, const std::vector<Message>& messages, Index blocks) {
  Index largest = 0;
  for (const Message& message : messages) largest = std::max(largest, message.chunk.bytes);
  return graph.pool(largest, std::clamp(static_cast<Index>(messages.size()), Index{1}, blocks));
}

// What all ranks have to mean alike, as a number that can be negated.
Index identity_of(std::span<const MatrixPair> pairs) {
  std::uint64_t state = pairs.size();
  for (const auto& [from, to, op] : pairs) {
    state = random_bits(state, layout::fingerprint(from));
    state = random_bits(state, layout::fingerprint(to));
    state = random_bits(state, static_cast<std::uint64_t>(op));
  }
  return static_cast<Index>(state >> 1);
}

// In bytes, so that tiles of different element types can be compared.
TileMemory in_bytes(TileMemory memory, Index element_bytes) {
  memory.tile.leading_dimension *= element_bytes;
  memory.minor *= element_bytes;
  return memory;
}

// The same owners of the same elements; in which order these lie in memory is each tile's own affair.
bool distributes_alike(const Layout& a, const Layout& b) {
  return a.rows() == b.rows() && a.columns() == b.columns() && a.owners() == b.owners();
}

}  // namespace

Plan::Matrix::Matrix(const MatrixPair& its_pair, int rank)
    : pair(its_pair), op_from(pair.op_from()), packages(op_from, pair.to, rank) {
  const std::vector<layout::TilePosition> tiles = pair.from.owners().owned_by(rank);
  for (const layout::TilePosition tile : op_from.owners().owned_by(rank)) {
    const layout::TilePosition original = transposes(pair.op) ? layout::TilePosition{tile.column, tile.row} : tile;
    source_order.push_back(std::lower_bound(tiles.begin(), tiles.end(), original) - tiles.begin());
  }
}

Plan::Plan(mpi::Context& context, std::vector<MatrixPair> pairs, Options options)
    : context_(context), options_(std::move(options)), pairs_(std::move(pairs)) {
  context.expect_usable();
  std::exception_ptr failure;
  try {
    static_cast<void>(simd::selected_isa());  // an unknown PLAIT_ISA is told here, not under way
    if (options_.memory_budget < least_budget || options_.chunk_bytes < least_chunk) {
      throw ArgumentError("memory_budget: " + std::to_string(options_.memory_budget) +
                          " and chunk_bytes: " + std::to_string(options_.chunk_bytes) + " bytes, expected at least " +
                          std::to_string(least_budget) + " and " + std::to_string(least_chunk));
    }
    for (const MatrixPair& pair : pairs_) expect_layouts(pair);
    for (const MatrixPair& pair : pairs_) matrices_.emplace_back(pair, context.rank());
  } catch (...) {
    failure = std::current_exception();
  }
  agree_on_options(failure);
}

std::string Plan::name_of(std::size_t pair) const {
  return pairs_.size() == 1 ? "" : "pair " + std::to_string(pair) + ": ";
}

void Plan::expect_layouts(const MatrixPair& pair) const {
  const auto& [from, to, op] = pair;
  const std::string name = name_of(static_cast<std::size_t>(&pair - pairs_.data()));
  if (apply(op, from.shape()) != to.shape()) {
    throw ShapeMismatch(name + "op(B) is " + layout::to_string(apply(op, from.shape())) + ", A is " +
                        layout::to_string(to.shape()) + ": from " + layout::describe(from) + " to " +
                        layout::describe(to));
  }
  for (const auto& [which, layout] : {std::pair("from", &from), std::pair("to", &to)}) {
    if (layout->ranks() <= context_.size()) continue;
    throw LayoutError(name + which + ": " + layout::describe(*layout) + " needs " + std::to_string(layout->ranks()) +
                      " ranks, there are " + std::to_string(context_.size()));
  }
}

// One all-reduce: who failed, the least of the limits, and whether all ranks mean the same redistribution.
void Plan::agree_on_options(const std::exception_ptr& failure) {
  const Index identity = identity_of(pairs_);
  std::array<Index, 4> minima{options_.memory_budget, options_.chunk_bytes, identity, -identity};
  mpi::agree(context_, failure, minima);
  if (minima[2] != -minima[3]) {
    std::string mine;
    for (const auto& [from, to, op] : pairs_) {
      mine +=
          (mine.empty() ? "" : "; ") + layout::describe(from) + " to " + layout::describe(to) + ", " + to_string(op);
    }
    throw ArgumentError("the ranks plan different redistributions; rank " + std::to_string(context_.rank()) +
                        ": from " + mine);
  }
  options_.memory_budget = minima[0];
  options_.chunk_bytes = std::min({minima[1], mpi::longest_message, minima[0] / 4});
}

Volume Plan::volume(std::size_t pair) const {
  Volume volume;
  const Packages& packages = matrices_[pair].packages;
  for (const Package& package : packages.outgoing()) volume.sent += package.elements;
  for (const Package& package : packages.incoming()) volume.received += package.elements;
  volume.kept = packages.own().elements;
  return volume;
}

// One all-reduce agrees that every rank can do its part and that all mean the same: after it nothing fails for want of
// memory or for a wrong argument.
void Plan::start(std::span<const Operands> operands, std::exception_ptr failure) {
  if (active_ != nullptr)
    throw ArgumentError("an execution of this plan is under way, expected wait() to end it first");
  Sizes sizes;
  try {
    if (!failure) {
      context_.expect_usable();
      expect_fitting(operands);
      expect_disjoint(operands);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        sizes.push_back(operands[i].reads_source() ? operands[i].element_bytes() : 0);
        bind(matrices_[i], operands[i]);
      }
      if (const auto known = exchanges_.find(sizes); known != exchanges_.end()) known->second.schedule->prepare();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  agree_on_operands(sizes, operands, failure);

  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) scale_target(matrices_[i], operands[i]);
  }
  if (std::all_of(sizes.begin(), sizes.end(), [](Index bytes) { return bytes == 0; })) return;
  const auto known = exchanges_.find(sizes);
  active_ = known != exchanges_.end() ? &known->second : &new_exchange(sizes);
  calls_users_ = std::any_of(operands.begin(), operands.end(), [](const Operands& one) { return one.is_operation(); });
  active_->schedule->start();
}

void Plan::expect_fitting(std::span<const Operands> operands) const {
  if (operands.size() != pairs_.size()) {
    throw ArgumentError("operands: " + std::to_string(operands.size()) + ", expected one for each of the " +
                        std::to_string(pairs_.size()) + " pairs");
  }
  const auto given = [](std::span<const TileMemory> tiles) {
    std::vector<layout::GivenTile> result;
    for (const auto& [tile, minor, major] : tiles) {
      const bool by_columns = tile.order == StorageOrder::column_major;
      result.push_back({by_columns ? layout::Shape{minor, major} : layout::Shape{major, minor}, tile.data != nullptr});
    }
    return result;
  };
  const auto expect_layout = [](const char* which, const std::optional<Layout>& layout, const Layout& planned) {
    if (!layout || distributes_alike(*layout, planned)) return;
    throw LayoutError(std::string(which) + " is in the layout " + layout::describe(*layout) + ", expected " +
                      layout::describe(planned) + ", as planned");
  };
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto& [from, to, op] = pairs_[i];
    try {
      expect_layout("source", operands[i].source_layout(), from);
      expect_layout("target", operands[i].target_layout(), to);
      layout::check_given_tiles(to, context_.rank(), given(operands[i].target()));
      if (operands[i].reads_source()) layout::check_given_tiles(from, context_.rank(), given(operands[i].source()));
      if (operands[i].is_operation() && conjugates(op)) {
        throw ArgumentError("op conjugates, expected identity or transpose with an operation of one's own");
      }
    } catch (const Error& error) {
      if (pairs_.size() == 1) throw;
      throw_error(error.kind(), name_of(i) + error.what());
    }
  }
}

void Plan::expect_disjoint(std::span<const Operands> operands) const {
  struct Place {
    std::size_t pair;
    std::size_t tile;
  };
  std::vector<TileMemory> sources, targets;
  std::vector<Place> source_places, target_places;
  const auto describe = [&](const char* which, const Place& place) {
    return std::string(which) + " tile " + std::to_string(place.tile) +
           (pairs_.size() == 1 ? "" : " of pair " + std::to_string(place.pair));
  };
  const auto expect_none = [&](const Overlap& overlap, const char* first, const std::vector<Place>& first_places) {
    if (overlap.source < 0) return;
    throw ArgumentError(describe(first, first_places[static_cast<std::size_t>(overlap.source)]) + " and " +
                        describe("target", target_places[static_cast<std::size_t>(overlap.target)]) + " of rank " +
                        std::to_string(context_.rank()) + " have memory in common: A and B must not overlap");
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Index bytes = operands[i].element_bytes();
    std::vector<TileMemory> own_targets;
    std::vector<Place> own_places;
    for (std::size_t t = 0; t < operands[i].target().size(); ++t) {
      own_targets.push_back(in_bytes(operands[i].target()[t], bytes));
      own_places.push_back({i, t});
    }
    expect_none(find_overlap(own_targets, targets, 1), "target", own_places);
    targets.insert(targets.end(), own_targets.begin(), own_targets.end());
    target_places.insert(target_places.end(), own_places.begin(), own_places.end());
    for (std::size_t t = 0; operands[i].reads_source() && t < operands[i].source().size(); ++t) {
      sources.push_back(in_bytes(operands[i].source()[t], bytes));
      source_places.push_back({i, t});
    }
  }
  expect_none(find_overlap(sources, targets, 1), "source", source_places);
}

void Plan::agree_on_operands(const Sizes& sizes, std::span<const Operands> operands,
                             const std::exception_ptr& failure) {
  std::string mine;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    mine += (mine.empty() ? "" : ", ") + name_of(i) + "alpha " + (sizes[i] != 0 ? "!=" : "==") + " 0 and elements of " +
            std::to_string(operands[i].element_bytes()) + " bytes" +
            (operands[i].is_operation() ? " for an operation" : "");
  }
  const auto meaning = static_cast<Index>(std::hash<std::string>{}(mine) >> 1);
  std::array<Index, 2> minima{meaning, -meaning};
  mpi::agree(context_, failure, minima);
  if (minima[0] == -minima[1]) return;
  throw ArgumentError("alpha or the element type: the ranks execute a redistribution with different ones; rank " +
                      std::to_string(context_.rank()) + " has " + mine);
}

void Plan::bind(Matrix& matrix, const Operands& operands) {
  matrix.source.clear();
  matrix.target.clear();
  Index target_bytes = 0;
  for (const TileMemory& memory : operands.target()) {
    matrix.target.push_back(memory.tile);
    target_bytes += memory.minor * memory.major * operands.element_bytes();
  }
  const bool past_caches = simd::streams(simd::Stores::automatic, target_bytes);
  matrix.transform =
      operands.transform(conjugates(matrix.pair.op), past_caches ? simd::Stores::streaming : simd::Stores::cached);
  if (!operands.reads_source()) return;
  for (const Index tile : matrix.source_order) {
    matrix.source.push_back(operands.source()[static_cast<std::size_t>(tile)].tile);
    if (transposes(matrix.pair.op)) matrix.source.back().order = flipped(matrix.source.back().order);
  }
}

// A ← beta·A, for alpha == 0: no rank reads B, so there is nothing to send.
void Plan::scale_target(const Matrix& matrix, const Operands& operands) {
  for (const auto& [tile, minor, major] : operands.target()) {
    for (Index j = 0; j < major; ++j) {
      matrix.transform.run(minor, nullptr, tile.data + j * tile.leading_dimension * matrix.transform.element_bytes());
    }
  }
}

// Collective; on failure no rank keeps it.
Plan::Exchange& Plan::new_exchange(const Sizes& sizes) {
  try {
    return mpi::agreed(context_, [&]() -> std::reference_wrapper<Exchange> {
      Exchange& exchange = exchanges_[sizes];
      build(exchange, sizes);
      exchange.schedule->prepare();
      return exchange;
    });
  } catch (...) {
    exchanges_.erase(sizes);
    throw;
  }
}

void Plan::build(Exchange& exchange, const Sizes& sizes) {
  const CutLimits limits{.chunk_bytes = options_.chunk_bytes, .step_bytes = std::min(step_bytes, options_.chunk_bytes)};
  std::map<int, std::vector<PackageToCut>> outgoing, incoming;
  std::vector<PackageToCut> own;
  exchange.movers.resize(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) continue;
    const Matrix& matrix = matrices_[i];
    const Packages& packages = matrix.packages;
    const StorageOrder packed = matrix.op_from.storage();
    exchange.movers[i].emplace(matrix.pair.to, packed, packages.most_runs(), limits.step_bytes / sizes[i]);
    const auto to_cut = [&](const Package& package) {
      return PackageToCut{&package, i, sizes[i], packed, packed != matrix.pair.to.storage()};
    };
    for (const Package& package : packages.outgoing()) outgoing[package.peer].push_back(to_cut(package));
    for (const Package& package : packages.incoming()) incoming[package.peer].push_back(to_cut(package));
    own.push_back(to_cut(packages.own()));
  }
  const auto limits_to = [&](int peer) {  // the same at both ends
    CutLimits shorter = limits;
    if (context_.topology().class_of(peer) == PeerClass::network) {
      shorter.chunk_bytes = std::min(limits.chunk_bytes, mpi::network_message);
      shorter.step_bytes = std::min(limits.step_bytes, shorter.chunk_bytes);
    }
    return shorter;
  };
  const auto messages = [&](const auto& packages_by_peer) {
    std::vector<Exchange::Message> result;
    for (const auto& [peer, packages] : packages_by_peer) {
      Index number = 0;
      for (Chunk& chunk : cut(packages, limits_to(peer))) result.push_back({peer, number++, std::move(chunk)});
    }
    return result;
  };
  exchange.outgoing = messages(outgoing);
  exchange.incoming = messages(incoming);
  exchange.own = cut(own, limits);

  schedule::Graph graph;
  Index longest = 1;
  for (const auto* side : {&exchange.outgoing, &exchange.incoming}) {
    for (const auto& [peer, number, chunk] : *side) longest = std::max(longest, chunk.bytes);
  }
  const Index blocks = std::max(Index{1}, options_.memory_budget / 2 / longest);
  add_sends(exchange, graph, blocks);
  add_receives(exchange, graph, blocks);
  add_own_moves(exchange, graph);
  const auto window = static_cast<int>(std::min(blocks, most_under_way));
  exchange.schedule.emplace(context_, std::move(graph), options_.label, schedule::Windows{window, window, 1});
}

void Plan::add_sends(Exchange& exchange, schedule::Graph& graph, Index blocks) {
  const schedule::PoolId pool = add_pool(graph, exchange.outgoing, blocks);
  for (const auto& [peer, number, chunk] : exchange.outgoing) {
    const Position position = position_of(number, context_.rank(), peer, context_.size());
    const schedule::SlotId staging = graph.staging(pool);
    const OperationId packed =
        graph.compute(position, chunk.steps(),
                      [this, &exchange, &packing = chunk, staging](const schedule::Run& run, Index step) {
                        for (const Piece& piece : packing.step(step)) {
                          const Matrix& matrix = matrices_[piece.matrix];
                          exchange.movers[piece.matrix]->pack(
                              piece, matrix.source[static_cast<std::size_t>(piece.panel->source_tile)],
                              run.address(staging), matrix.transform.element_bytes());
                        }
                      },
                      {staging});
    graph.send(position, peer, {staging, 0, chunk.bytes}, {packed});
  }
}

void Plan::add_receives(Exchange& exchange, schedule::Graph& graph, Index blocks) {
  const schedule::PoolId pool = add_pool(graph, exchange.incoming, blocks);
  for (const auto& [peer, number, chunk] : exchange.incoming) {
    const Position position = position_of(number, peer, context_.rank(), context_.size());
    const schedule::SlotId staging = graph.staging(pool);
    const OperationId arrived = graph.receive(position, peer, {staging, 0, chunk.bytes});
    graph.compute(position, chunk.steps(),
                  [this, &exchange, &unpacking = chunk, staging](const schedule::Run& run, Index step) {
                    for (const Piece& piece : unpacking.step(step)) {
                      const Matrix& matrix = matrices_[piece.matrix];
                      exchange.movers[piece.matrix]->unpack(
                          piece, run.address(staging),
                          matrix.target[static_cast<std::size_t>(piece.panel->target_tile)], matrix.transform);
                    }
                  },
                  {staging}, {arrived});
  }
}

void Plan::add_own_moves(Exchange& exchange, schedule::Graph& graph) {
  for (const Chunk& chunk : exchange.own) {
    graph.compute({.stage = after_messages}, chunk.steps(),
                  [this, &exchange, &chunk](const schedule::Run& run, Index step) {
                    for (const Piece& piece : chunk.step(step)) {
                      const Matrix& matrix = matrices_[piece.matrix];
                      exchange.movers[piece.matrix]->move(
                          piece, matrix.source[static_cast<std::size_t>(piece.panel->source_tile)],
                          matrix.target[static_cast<std::size_t>(piece.panel->target_tile)], matrix.transform);
                      run.count_own_move(piece.rows * piece.columns * matrix.transform.element_bytes());
                    }
                  });
  }
}

bool Plan::progress() { return active_ == nullptr || active_->schedule->progress(); }

void Plan::wait() {
  if (active_ == nullptr) return;
  Exchange& ending = *std::exchange(active_, nullptr);
  if (calls_users_) {
    mpi::agreed(context_, [&] { ending.schedule->wait(); });
  } else {
    ending.schedule->wait();
  }
}

}  // namespace plait::redistribute
