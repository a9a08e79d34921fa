#include "plait/schedule/compiled.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/memory.hpp"
#include "plait/base/rounding.hpp"

namespace plait::schedule {

namespace {

using Kind = Compiled::Kind;

// At one position: what its messages may wait for, the messages as both their ends know them, what waits for them.
// Anything else could stand before a message at one of its ends and after it at the other.
enum class Phase { before, messages, requests, signals, awaits, after };

Phase phase_of(Kind kind, bool waits_for_this_position) {
  switch (kind) {
    case Kind::send:
    case Kind::receive: return Phase::messages;
    case Kind::request: return Phase::requests;
    case Kind::signal: return Phase::signals;
    case Kind::await: return Phase::awaits;
    case Kind::reduce_local:
    case Kind::compute: break;
  }
  return waits_for_this_position ? Phase::after : Phase::before;
}

}  // namespace

std::span<const int> Compiled::dependents_of(int operation) const {
  const Operation& op = operations[at(operation)];
  return std::span(dependents).subspan(at(op.first_dependent), at(op.last_dependent - op.first_dependent));
}

std::span<const int> Compiled::staged_by(int operation) const {
  const Operation& op = operations[at(operation)];
  return std::span(staged_uses).subspan(at(op.first_staging), at(op.last_staging - op.first_staging));
}

std::span<const Graph::Move> Compiled::moves_of(int operation) const {
  const Operation& op = operations[at(operation)];
  return std::span(moves_).subspan(at(op.first_move), at(op.last_move - op.first_move));
}

Compiled::Compiled(Graph graph, int own_rank)
    : slots(std::move(graph.slots_)),
      traffic(traffic_of(graph)),
      strands(graph.strands_),
      kept_(std::move(graph.kept_)),
      nodes_(std::move(graph.nodes_)),
      moves_(std::move(graph.moves_)) {
  const int count = static_cast<int>(nodes_.size());
  const std::vector<int> order = execution_order(own_rank);
  std::vector<int> rank_of(nodes_.size());
  for (int i = 0; i < count; ++i) rank_of[at(order[at(i)])] = i;

  operations.reserve(nodes_.size());
  std::vector<Slots> uses(nodes_.size());
  std::vector<int> out_degree(nodes_.size() + 1, 0);
  for (int i = 0; i < count; ++i) {
    Graph::Node& node = nodes_[at(order[at(i)])];
    operations.push_back({.kind = node.kind,
                          .position = node.position,
                          .peer = node.peer,
                          .range = node.range,
                          .a = node.a,
                          .b = node.b,
                          .combine = node.combine ? &*node.combine : nullptr,
                          .steps = node.steps,
                          .compute = &node.compute,
                          .request = &node.request,
                          .flag = node.flag,
                          .readers = node.readers,
                          .tells = node.tells,
                          .flag_round = 0,
                          .flag_rounds = 0,
                          .pending = static_cast<int>(node.after.size()),
                          .channel_prev = -1,
                          .first_dependent = 0,
                          .last_dependent = 0,
                          .first_staging = 0,
                          .last_staging = 0,
                          .first_move = 0,
                          .last_move = 0});
    uses[at(i)] = std::move(node.uses);
    for (const OperationId before : node.after) ++out_degree[at(rank_of[static_cast<std::size_t>(before)]) + 1];
  }

  std::partial_sum(out_degree.begin(), out_degree.end(), out_degree.begin());
  dependents.resize(at(out_degree.back()));
  for (int i = 0; i < count; ++i) {
    operations[at(i)].first_dependent = operations[at(i)].last_dependent = out_degree[at(i)];
  }
  for (int i = 0; i < count; ++i) {
    for (const OperationId before : nodes_[at(order[at(i)])].after) {
      Operation& op = operations[at(rank_of[static_cast<std::size_t>(before)])];
      dependents[at(op.last_dependent++)] = i;
    }
  }

  std::ranges::stable_sort(moves_, {}, &Graph::Move::computation);
  for (int first = 0, last = 0; first < static_cast<int>(moves_.size()); first = last) {
    const OperationId computation = moves_[at(first)].computation;
    while (last < static_cast<int>(moves_.size()) && moves_[at(last)].computation == computation) ++last;
    Operation& op = operations[at(rank_of[static_cast<std::size_t>(computation)])];
    op.first_move = first, op.last_move = last;
  }

  for (const Graph::Pool& pool : graph.pools_) {
    pools.push_back({pool.block_bytes, pool.blocks, staging_bytes, {}});
    staging_bytes += rounded_up(pool.block_bytes * pool.blocks, Index{Buffer::alignment});
  }
  fill_lanes();
  link_channels();
  count_flag_rounds();
  plan_staging(uses);
  expect_staging_suffices(own_rank);
}

// Checks on the way that messages ascend: no message waits for another one at its own position or above.
std::vector<int> Compiled::execution_order(int own_rank) const {
  using Key = std::tuple<Position, Phase, int, int>;
  std::vector<Key> keys;
  std::vector<std::optional<Position>> latest(nodes_.size());  // of what crosses ranks, up to and with this operation
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Graph::Node& node = nodes_[i];
    for (const OperationId before : node.after) {
      const auto& other = latest[static_cast<std::size_t>(before)];
      if (other) latest[i] = std::max(latest[i].value_or(*other), *other);
    }
    const Phase phase = phase_of(node.kind, latest[i] == node.position);
    if (!is_work(node.kind)) {
      PLAIT_ASSERT(!latest[i] || *latest[i] < node.position,
                   "a message that depends on another stands at a higher position");
      latest[i] = node.position;
    }
    const bool sends_it = node.kind == Kind::send;
    keys.emplace_back(node.position, phase, sends_it ? own_rank : node.peer, sends_it ? node.peer : own_rank);
  }
  std::vector<int> order(nodes_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[at(a)] < keys[at(b)]; });
  return order;
}

void Compiled::fill_lanes() {
  for (int i = 0; i < size(); ++i) {
    switch (operations[at(i)].kind) {
      case Kind::send: lane_order[sends].push_back(i); break;
      case Kind::receive: lane_order[receives].push_back(i); break;
      case Kind::request: lane_order[requests].push_back(i); break;
      default: break;
    }
  }
}

// MPI matches messages of one tag between two ranks in the order of posting; so these are posted in order.
void Compiled::link_channels() {
  for (const Lane lane : {sends, receives}) {
    std::map<std::pair<int, Index>, int> last;
    for (const int i : lane_order[lane]) {
      Operation& op = operations[at(i)];
      auto [entry, first] = last.try_emplace({op.peer, op.position.strand}, i);
      if (!first) op.channel_prev = std::exchange(entry->second, i);
    }
  }
  for (std::size_t k = 1; k < lane_order[requests].size(); ++k) {
    operations[at(lane_order[requests][k])].channel_prev = lane_order[requests][k - 1];
  }
}

// A signal and its awaits stand at one position: the positions of a flag are its rounds, in the same order at all ends.
void Compiled::count_flag_rounds() {
  std::map<const FlagCell*, std::vector<int>> of_flag;
  for (int i = 0; i < size(); ++i) {
    if (operations[at(i)].flag != nullptr) of_flag[operations[at(i)].flag].push_back(i);
  }
  for (const auto& [flag, users] : of_flag) {
    int rounds = 0;
    for (std::size_t k = 0; k < users.size(); ++k) {
      if (k == 0 || operations[at(users[k])].position != operations[at(users[k - 1])].position) ++rounds;
      operations[at(users[k])].flag_round = rounds - 1;
    }
    for (const int user : users) operations[at(user)].flag_rounds = rounds;
  }
}

void Compiled::plan_staging(const std::vector<Slots>& uses) {
  staged_of_slot.assign(slots.size(), -1);
  for (int slot = 0; slot < static_cast<int>(slots.size()); ++slot) {
    if (slots[at(slot)].pool < 0) bound_slots.push_back(slot);
  }
  for (int i = 0; i < size(); ++i) {
    Operation& op = operations[at(i)];
    op.first_staging = static_cast<int>(staged_uses.size());
    for (const SlotId id : uses[at(i)]) {
      const int slot = static_cast<int>(id);
      const int pool = slots[at(slot)].pool;
      if (pool < 0) continue;
      int& index = staged_of_slot[at(slot)];
      if (index < 0) {
        index = static_cast<int>(staged.size());
        staged.push_back({slot, pool, 0, 0, 0});
        pools[at(pool)].acquire_order.push_back(index);
      }
      const auto own = std::span(staged_uses).subspan(at(op.first_staging));
      if (std::find(own.begin(), own.end(), index) != own.end()) continue;
      staged_uses.push_back(index);
      ++staged[at(index)].users;
      ++op.pending;
    }
    op.last_staging = static_cast<int>(staged_uses.size());
  }

  int next = 0;
  for (StagedSlot& slot : staged) {
    slot.first_user = slot.last_user = next;
    next += slot.users;
  }
  staged_users.resize(at(next));
  for (int i = 0; i < size(); ++i) {
    for (const int index : staged_by(i)) staged_users[at(staged[at(index)].last_user++)] = i;
  }
}

// Executed one by one in their order, operations find the blocks that they need. Then the lowest unfinished one always
// does: of the blocks handed out before, only those are still held that it would find held in that order, too. What a
// rank sends to itself at one position is one step of that order, as it takes both ends to finish.
void Compiled::expect_staging_suffices(int own_rank) const {
  std::vector<int> users_left(staged.size());
  std::vector<Index> held(pools.size(), 0);
  for (std::size_t s = 0; s < staged.size(); ++s) users_left[s] = staged[s].users;
  int end = 0;
  for (int begin = 0; begin < size(); begin = end) {
    for (end = begin + 1; end < size() && are_one_step(begin, end, own_rank);) ++end;
    for (int i = begin; i < end; ++i) {
      for (const int index : staged_by(i)) {
        const StagedSlot& slot = staged[at(index)];
        if (staged_users[at(slot.first_user)] != i) continue;
        ++held[at(slot.pool)];
        PLAIT_ASSERT(held[at(slot.pool)] <= pools[at(slot.pool)].blocks,
                     "a staging pool holds what is in use at one time");
      }
    }
    for (int i = begin; i < end; ++i) {
      for (const int index : staged_by(i)) {
        if (--users_left[at(index)] == 0) --held[at(staged[at(index)].pool)];
      }
    }
  }
}

bool Compiled::are_one_step(int first, int other, int own_rank) const {
  const Operation& a = operations[at(first)];
  const Operation& b = operations[at(other)];
  return a.position == b.position && a.peer == own_rank && b.peer == own_rank;
}

}  // namespace plait::schedule
