#include "plait/schedule/graph.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/message.hpp"

namespace plait::schedule {

namespace {

bool are_one_or_apart(const Range& first, const Range& other) {
  return first.slot != other.slot || first.offset == other.offset || first.offset + first.bytes <= other.offset ||
         other.offset + other.bytes <= first.offset;
}

}  // namespace

Index reduce_step_bytes(const Combine& combine) noexcept {
  constexpr Index wanted = Index{256} << 10;  // some 0.02 to 0.1 ms
  return std::max<Index>(wanted / combine.element_bytes(), 1) * combine.element_bytes();
}

Graph::Graph(int strands) : strands_(strands) { PLAIT_ASSERT(strands >= 1, "a graph has strands"); }

SlotId Graph::add_slot(Slot slot) {
  PLAIT_ASSERT(slot.bytes >= 0, "a slot has no negative size");
  slots_.push_back(slot);
  return SlotId{static_cast<int>(slots_.size()) - 1};
}

SlotId Graph::input(Index bytes) { return add_slot({bytes, -1, false}); }
SlotId Graph::output(Index bytes) { return add_slot({bytes, -1, true}); }

PoolId Graph::pool(Index block_bytes, Index blocks) {
  PLAIT_ASSERT(block_bytes >= 0 && blocks >= 1, "a pool has blocks");
  pools_.push_back({block_bytes, blocks});
  return PoolId{static_cast<int>(pools_.size()) - 1};
}

SlotId Graph::staging(PoolId pool) {
  const auto index = static_cast<int>(pool);
  PLAIT_ASSERT(index >= 0 && index < static_cast<int>(pools_.size()), "the pool exists");
  return add_slot({pools_[static_cast<std::size_t>(index)].block_bytes, index, true});
}

OperationId Graph::add(Node node) {
  PLAIT_ASSERT(node.position.strand >= 0 && node.position.strand < strands_, "the strand exists");
  const OperationId id{static_cast<int>(nodes_.size())};
  for (const OperationId before : node.after) {
    PLAIT_ASSERT(before >= OperationId{0} && before < id, "operations depend on earlier ones");
    PLAIT_ASSERT(nodes_[static_cast<std::size_t>(before)].position <= node.position,
                 "an operation does not stand before what it depends upon");
  }
  for (const SlotId slot : node.uses) expect_slot(slot);
  nodes_.push_back(std::move(node));
  return id;
}

void Graph::expect_slot(SlotId slot) const {
  PLAIT_ASSERT(slot >= SlotId{0} && slot < SlotId{static_cast<int>(slots_.size())}, "the slot exists");
}

void Graph::expect_readable(Range range) const {
  expect_slot(range.slot);
  const Slot& slot = slots_[static_cast<std::size_t>(range.slot)];
  PLAIT_ASSERT(range.offset >= 0 && range.bytes >= 0 && range.bytes <= slot.bytes - range.offset,
               "a range lies in its slot");
}

void Graph::expect_writable(Range range) const {
  expect_readable(range);
  PLAIT_ASSERT(slots_[static_cast<std::size_t>(range.slot)].writable, "an input is not written to");
}

OperationId Graph::message(Kind kind, Position position, int peer, Range range, Dependencies after) {
  kind == Kind::receive ? expect_writable(range) : expect_readable(range);
  PLAIT_ASSERT(peer >= 0, "the other end of a message is a rank");
  if (range.bytes <= mpi::longest_message && range.bytes > 0) {
    return add({.kind = kind,
                .position = position,
                .peer = peer,
                .range = range,
                .uses = {range.slot},
                .after = std::move(after)});
  }
  Dependencies pieces = after;
  for (Index done = 0; done < range.bytes; done += mpi::longest_message) {
    const Range piece{range.slot, range.offset + done, std::min(mpi::longest_message, range.bytes - done)};
    pieces.push_back(
        add({.kind = kind, .position = position, .peer = peer, .range = piece, .uses = {range.slot}, .after = after}));
  }
  return compute(position, 0, {}, {range.slot}, std::move(pieces));
}

OperationId Graph::send(Position position, int peer, Range range, Dependencies after) {
  return message(Kind::send, position, peer, range, std::move(after));
}

OperationId Graph::receive(Position position, int peer, Range range, Dependencies after) {
  return message(Kind::receive, position, peer, range, std::move(after));
}

OperationId Graph::reduce_local(Position position, Range a, Range b, Range out, const Combine& combine,
                                Dependencies after) {
  expect_readable(a);
  expect_readable(b);
  expect_writable(out);
  PLAIT_ASSERT(combine.sum_of_all() == nullptr, "an operation on two operands");
  PLAIT_ASSERT(a.bytes == out.bytes && b.bytes == out.bytes && combine.element_bytes() > 0 &&
                   out.bytes % combine.element_bytes() == 0,
               "operands of equal length, whole elements");
  PLAIT_ASSERT(are_one_or_apart(a, out) && are_one_or_apart(b, out),
               "the result overlaps no operand, or is one of them");
  const Index step_bytes = reduce_step_bytes(combine);
  return add({.kind = Kind::reduce_local,
              .position = position,
              .range = out,
              .a = a,
              .b = b,
              .combine = combine,
              .steps = quotient_up(out.bytes, step_bytes),
              .uses = {a.slot, b.slot, out.slot},
              .after = std::move(after)});
}

OperationId Graph::compute(Position position, Index steps, ComputeFunction f, Slots uses, Dependencies after) {
  PLAIT_ASSERT(steps >= 0 && (steps == 0 || f != nullptr), "a step has something to do");
  return add({.kind = Kind::compute,
              .position = position,
              .steps = steps,
              .compute = std::move(f),
              .uses = std::move(uses),
              .after = std::move(after)});
}

void Graph::writes_for(OperationId computation, int peer, Index bytes) { add_move({computation, peer, bytes, true}); }
void Graph::reads_from(OperationId computation, int peer, Index bytes) { add_move({computation, peer, bytes, false}); }

void Graph::add_move(Move move) {
  PLAIT_ASSERT(move.computation >= OperationId{0} && move.computation < OperationId{static_cast<int>(nodes_.size())},
               "the computation exists");
  PLAIT_ASSERT(move.peer >= 0 && move.bytes >= 0, "bytes move between ranks");
  if (move.bytes > 0) moves_.push_back(move);
}

OperationId Graph::request(Position position, RequestFunction start, Slots uses, Dependencies after) {
  PLAIT_ASSERT(start != nullptr, "a request has something to start");
  return add({.kind = Kind::request,
              .position = position,
              .request = std::move(start),
              .uses = std::move(uses),
              .after = std::move(after)});
}

OperationId Graph::signal(Position position, const NodeFlags& flags, Index flag, int readers, Dependencies after,
                          Tells tells) {
  PLAIT_ASSERT(readers >= 0, "a signal has readers");
  return add({.kind = Kind::signal,
              .position = position,
              .flag = &flags.cell(flag),
              .readers = readers,
              .tells = tells,
              .after = std::move(after)});
}

OperationId Graph::await(Position position, const NodeFlags& flags, Index flag, Dependencies after) {
  return add({.kind = Kind::await, .position = position, .flag = &flags.cell(flag), .after = std::move(after)});
}

Exchanged traffic_of(const Graph& graph) {
  Exchanged traffic;
  for (const Graph::Node& node : graph.nodes_) {
    if (node.kind == OperationKind::send) traffic.send(node.range.bytes);
    if (node.kind == OperationKind::receive) traffic.receive(node.range.bytes);
  }
  for (const Graph::Move& move : graph.moves_) move.sends ? traffic.send(move.bytes) : traffic.receive(move.bytes);
  return traffic;
}

}  // namespace plait::schedule
