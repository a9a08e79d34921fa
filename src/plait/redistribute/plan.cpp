#include "plait/redistribute/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/layout/check_tiles.hpp"
#include "plait/layout/fingerprint.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/message.hpp"
#include "plait/simd/isa.hpp"

namespace plait::redistribute {

namespace {

using layout::Layout;

constexpr Index least_budget = 4096;
constexpr Index least_chunk = 16;  // the longest element

void expect_at_least(const char* option, Index bytes, Index least) {
  if (bytes >= least) return;
  throw ArgumentError(std::string(option) + ": is " + std::to_string(bytes) + " bytes, expected at least " +
                      std::to_string(least));
}

// What all ranks have to mean alike, as a number that can be negated.
Index identity_of(std::span<const MatrixPair> pairs) {
  std::uint64_t state = pairs.size();
  for (const auto& [from, to, op, part] : pairs) {
    state = random_bits(state, layout::fingerprint(from));
    state = random_bits(state, layout::fingerprint(to));
    state = random_bits(state, static_cast<std::uint64_t>(op));
    if (!part) continue;
    state = random_bits(state, part->side == Trapezoid::Side::upper ? 1 : 2);
    state = random_bits(state, static_cast<std::uint64_t>(part->diagonal));
  }
  return static_cast<Index>(state >> 1);
}

std::string part_text(const Trapezoid& part) {
  return fmt::format("the part {} diagonal {}", part.side == Trapezoid::Side::upper ? "up to" : "from", part.diagonal);
}

// Calls f(j, begin, end) for the columns of a tile, j, and the rows of it, from begin to before end, that lie within:
// all as they lie in the tile.
template <class F>
void for_each_column_within(const Trapezoid& part, const layout::Axis& rows, Index row_part,
                            const layout::Axis& columns, Index column_part, F&& f) {
  const auto local = [&](Index row) { return rows.sub(0, row).local_extent(row_part); };
  columns.for_each_segment(column_part, [&](const layout::Segment& segment) {
    for (Index k = 0; k < segment.length; ++k) {
      const auto [begin, end] = part.rows_of(segment.global + k, 0, rows.extent());
      const Index first = local(begin);
      const Index last = local(end);
      if (last > first) f(segment.local + k, first, last);
    }
  });
}

}  // namespace

Plan::Plan(mpi::Context& context, std::vector<MatrixPair> pairs, Options options, std::shared_ptr<RingMemory> rings)
    : context_(context), options_(std::move(options)), rings_(std::move(rings)), pairs_(std::move(pairs)) {
  context.expect_usable();
  try {
    static_cast<void>(simd::selected_isa());  // an unknown PLAIT_ISA is told here, not under way
    expect_at_least("memory_budget", options_.memory_budget, least_budget);
    expect_at_least("chunk_bytes", options_.chunk_bytes, least_chunk);
    for (const MatrixPair& pair : pairs_) expect_layouts(pair);
    for (const MatrixPair& pair : pairs_) matrices_.emplace_back(pair, context.rank());
  } catch (...) {
    unplanned_ = std::current_exception();
  }
  options_.chunk_bytes = std::min({options_.chunk_bytes, mpi::longest_message, options_.memory_budget / 4});
}

std::string Plan::name_of(std::size_t pair) const {
  return pairs_.size() == 1 ? "" : "pair " + std::to_string(pair) + ": ";
}

void Plan::expect_layouts(const MatrixPair& pair) const {
  const auto& [from, to, op, part] = pair;
  const std::string name = name_of(static_cast<std::size_t>(&pair - pairs_.data()));
  if (apply(op, from.shape()) != to.shape()) {
    throw ShapeMismatch(name + "op(B) is " + layout::to_string(apply(op, from.shape())) + ", A is " +
                        layout::to_string(to.shape()) + ": from " + layout::describe(from) + " to " +
                        layout::describe(to));
  }
  static_cast<void>(layout::elements(to.shape()));  // packages and volumes count them
  for (const auto& [which, layout] : {std::pair("from", &from), std::pair("to", &to)}) {
    if (layout->ranks() <= context_.size()) continue;
    throw LayoutError(name + which + ": " + layout::describe(*layout) + " needs " + std::to_string(layout->ranks()) +
                      " ranks, there are " + std::to_string(context_.size()));
  }
  const auto [rows, columns] = to.shape();
  if (part && (part->diagonal < -columns || part->diagonal > rows)) {
    throw ArgumentError(fmt::format("{}part: the diagonal is {}, expected from -{} to {} in a matrix A of {}", name,
                                    part->diagonal, columns, rows, layout::to_string(to.shape())));
  }
}

// One all-reduce: who failed, the least of the limits, and whether all ranks mean the same redistribution.
void Plan::agree(mpi::Context& context, Plan* plan, const std::exception_ptr& failure) {
  std::array<Index, 5> minima{};
  if (plan != nullptr) {
    const Options& options = plan->options_;
    const Index identity = identity_of(plan->pairs_);
    minima = {options.memory_budget, options.chunk_bytes, identity, -identity, static_cast<Index>(options.within_node)};
  }
  mpi::agree(context, failure, minima);
  if (minima[2] != -minima[3]) {
    std::string mine;
    for (const auto& [from, to, op, part] : plan->pairs_) {
      mine +=
          (mine.empty() ? "" : "; ") + layout::describe(from) + " to " + layout::describe(to) + ", " + to_string(op);
      if (part) mine += ", " + part_text(*part);
    }
    throw ArgumentError("the ranks plan different redistributions; rank " + std::to_string(context.rank()) + ": from " +
                        mine);
  }
  plan->options_.memory_budget = minima[0];
  plan->options_.chunk_bytes = minima[1];
  plan->options_.within_node = static_cast<WithinNode>(minima[4]);
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
// memory or for a wrong argument, but for the schedule of a new exchange.
void Plan::start(std::span<const Operands> operands, std::exception_ptr failure, Agreement agreement) {
  if (active_ != nullptr)
    throw ArgumentError("an execution of this plan is under way, expected wait() to end it first");
  ExchangeKind& kind = beginning_;
  kind.element_bytes.clear();
  kind.sources_are_shared = kind.targets_are_shared = options_.within_node == WithinNode::shared_memory;
  std::unique_ptr<Exchange> cut;
  NodeTraffic traffic;
  arguments_.clear();
  try {
    if (unplanned_) std::rethrow_exception(unplanned_);
    if (!failure) {
      context_.expect_usable();
      expect_fitting(operands);
      disjoint_.expect(operands, context_.rank());
      for (std::size_t i = 0; i < operands.size(); ++i) {
        kind.element_bytes.push_back(operands[i].reads_source() ? operands[i].element_bytes() : 0);
        matrices_[i].bind(context_, operands[i]);
        if (!operands[i].reads_source()) continue;
        kind.sources_are_shared = kind.sources_are_shared && matrices_[i].is_source_shared;
        // An operation of the user's is called on the rank that has A.
        kind.targets_are_shared =
            kind.targets_are_shared && matrices_[i].is_target_shared && !operands[i].is_operation();
      }
      if (agreement != Agreement::reached) {
        for (std::size_t i = 0; i < operands.size(); ++i)
          operands[i].name_arguments(operands.size() > 1 ? static_cast<Index>(i) : -1, arguments_);
      }
      take_staging(kind.element_bytes);
      // Whether or not ranks found their tiles in shared memory, as they know only of themselves.
      if (agreement != Agreement::reached && !knows(kind.element_bytes)) cut = cut_exchange(kind);
      if (cut) traffic = cut->traffic_in_node();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (agreement != Agreement::reached) {
    agree_on_operands(kind, failure, traffic);
  } else if (failure) {
    std::rethrow_exception(failure);
  } else {
    kind.sources_are_shared = kind.targets_are_shared = false;  // only an agreement could tell
  }
  try {
    begin(kind, operands, std::move(cut), traffic, agreement);
  } catch (...) {
    if (agreement != Agreement::once) throw;
    unbegun_ = std::current_exception();
  }
}

void Plan::begin(const ExchangeKind& kind, std::span<const Operands> operands, std::unique_ptr<Exchange> cut,
                 NodeTraffic traffic, Agreement agreement) {
  const std::vector<Index>& sizes = kind.element_bytes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) scale_target(matrices_[i], operands[i]);
  }
  if (std::all_of(sizes.begin(), sizes.end(), [](Index bytes) { return bytes == 0; })) return;
  give_back_staging(&kind);  // for the exchange that begins
  const auto known = exchanges_.find(kind);
  active_ = known != exchanges_.end() ? known->second.get() : &new_exchange(kind, std::move(cut), traffic, agreement);
  calls_users_ = agreement == Agreement::needed &&
                 std::any_of(operands.begin(), operands.end(), [](const Operands& one) { return one.is_operation(); });
  active_->schedule().start();
}

void Plan::expect_fitting(std::span<const Operands> operands) const {
  if (operands.size() != pairs_.size()) {
    throw ArgumentError("operands: " + std::to_string(operands.size()) + ", expected one for each of the " +
                        std::to_string(pairs_.size()) + " pairs");
  }
  const auto expect_tiles = [this](const char* which, std::span<const layout::TileExtent> expected,
                                   std::span<const TileMemory> tiles) {
    try {
      layout::check_number_of_tiles(expected, context_.rank(), tiles.size());
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        const auto& [tile, minor, major] = tiles[i];
        const bool by_columns = tile.order == StorageOrder::column_major;
        const layout::Shape shape = by_columns ? layout::Shape{minor, major} : layout::Shape{major, minor};
        layout::check_tile(expected[i], context_.rank(), i, {shape, tile.data != nullptr});
      }
    } catch (const Error& error) {
      throw_error(error.kind(), std::string(which) + ": " + error.what());
    }
  };
  const auto expect_part = [this](const char* which, const std::optional<MatrixPart>& part, const Layout& planned) {
    if (!part) return;
    if (part->rank != context_.rank()) {
      throw ArgumentError(std::string(which) + " has the tiles of rank " + std::to_string(part->rank) +
                          ", expected those of rank " + std::to_string(context_.rank()) +
                          ", the number of this process in the context");
    }
    if (layout::distributes_alike(part->layout, planned)) return;
    throw LayoutError(std::string(which) + " is in the layout " + layout::describe(part->layout) + ", expected " +
                      layout::describe(planned) + ", as planned");
  };
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto& [from, to, op, part] = pairs_[i];
    try {
      expect_part("source", operands[i].source_part(), from);
      expect_part("target", operands[i].target_part(), to);
      expect_tiles("target", matrices_[i].target_tiles, operands[i].target());
      if (operands[i].reads_source()) expect_tiles("source", matrices_[i].source_tiles, operands[i].source());
      if (operands[i].is_operation() && conjugates(op)) {
        throw ArgumentError("op conjugates, expected identity or transpose with an operation of one's own");
      }
    } catch (const Error& error) {
      if (pairs_.size() == 1) throw;
      throw_error(error.kind(), name_of(i) + error.what());
    }
  }
}

void Plan::agree_on_operands(ExchangeKind& kind, const std::exception_ptr& failure, NodeTraffic& traffic) {
  std::array<Index, 6> minima{
      arguments_.digest(),    -arguments_.digest(), kind.sources_are_shared ? 1 : 0, kind.targets_are_shared ? 1 : 0,
      -traffic.longest_chunk, -traffic.most_chunks};
  mpi::agree(context_, failure, minima);
  kind.sources_are_shared = minima[2] == 1;
  kind.targets_are_shared = minima[3] == 1;
  traffic = {-minima[4], -minima[5]};
  if (minima[0] != -minima[1]) arguments_.throw_difference(context_);
}

// A ← beta·A, for alpha == 0: no rank reads B, so there is nothing to send.
void Plan::scale_target(const PlannedMatrix& matrix, const Operands& operands) {
  const Layout& to = matrix.pair.to;
  for (std::size_t t = 0; t < matrix.target_tiles.size(); ++t) {
    const auto& [tile, minor, major] = operands.target()[t];
    const auto [row_part, column_part] = matrix.target_tiles[t].position;
    const auto scale = [&, &target = tile](Index j, Index begin, Index end) {
      matrix.transform.scale(end - begin,
                             target.data + (j * target.leading_dimension + begin) * matrix.transform.element_bytes());
    };
    if (!matrix.pair.part) {
      for (Index j = 0; j < major; ++j) scale(j, 0, minor);
    } else if (tile.order == StorageOrder::column_major) {
      for_each_column_within(*matrix.pair.part, to.rows(), row_part, to.columns(), column_part, scale);
    } else {
      for_each_column_within(matrix.pair.part->transposed(), to.columns(), column_part, to.rows(), row_part, scale);
    }
  }
}

std::unique_ptr<Exchange> Plan::cut_exchange(const ExchangeKind& kind) {
  const auto takes_part = [](Index bytes) { return bytes != 0; };
  if (std::ranges::none_of(kind.element_bytes, takes_part)) return nullptr;
  return std::make_unique<Exchange>(context_, matrices_, kind.element_bytes, options_, rings_);
}

// As much as any exchange for elements of these sizes needs, as which of them begins is not known before the agreement.
void Plan::take_staging(const std::vector<Index>& element_bytes) {
  give_back_staging();
  schedule::Schedule* largest = nullptr;
  for (auto& [kind, known] : exchanges_) {
    if (kind.element_bytes != element_bytes) continue;
    schedule::Schedule& its = known->schedule();
    if (largest == nullptr || its.staging_bytes() > largest->staging_bytes()) largest = &its;
  }
  if (largest != nullptr) largest->prepare();
}

void Plan::give_back_staging(const ExchangeKind* kept) noexcept {
  for (auto& [kind, known] : exchanges_) {
    if (kept == nullptr || kind != *kept) known->schedule().give_back();
  }
}

// Whether there is an exchange for elements of these sizes, wherever tiles lie: the same on all ranks.
bool Plan::knows(const std::vector<Index>& element_bytes) const {
  return std::ranges::any_of(exchanges_, [&](const auto& one) { return one.first.element_bytes == element_bytes; });
}

// Collective; on failure no rank keeps it.
Exchange& Plan::new_exchange(const ExchangeKind& kind, std::unique_ptr<Exchange> cut, NodeTraffic traffic,
                             Agreement agreement) {
  const bool is_cut = agreement != Agreement::reached && !knows(kind.element_bytes);
  if (!is_cut) {
    std::exception_ptr failure;
    try {
      if (!cut) cut = cut_exchange(kind);
      traffic = cut->traffic_in_node();
    } catch (...) {
      failure = std::current_exception();
    }
    std::array<Index, 2> minima{-traffic.longest_chunk, -traffic.most_chunks};
    mpi::agree(context_, failure, minima);
    traffic = {-minima[0], -minima[1]};
  }
  cut->share_memory(kind, traffic);
  const auto keep = [&] {
    cut->build();
    exchanges_.emplace(kind, std::move(cut));
  };
  try {
    agreement == Agreement::once ? keep() : mpi::agreed(context_, keep);
  } catch (...) {
    exchanges_.erase(kind);
    throw;
  }
  return *exchanges_.at(kind);
}

bool Plan::progress() { return active_ == nullptr || active_->schedule().progress(); }

void Plan::wait() {
  if (unbegun_) std::rethrow_exception(std::exchange(unbegun_, nullptr));
  if (active_ == nullptr) return;
  Exchange& ending = *std::exchange(active_, nullptr);
  if (calls_users_) {
    mpi::agreed(context_, [&] { ending.schedule().wait(); });
  } else {
    ending.schedule().wait();
  }
}

}  // namespace plait::redistribute
