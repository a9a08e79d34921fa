#include "plait/schedule/executor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include "plait/base/backoff.hpp"
#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/environment.hpp"

namespace plait::schedule {

namespace {

using Kind = Compiled::Kind;
using Lane = Compiled::Lane;

constexpr std::array<Lane, Compiled::lanes> all_lanes{Compiled::sends, Compiled::receives, Compiled::requests};

}  // namespace

Executor::Executor(mpi::Context& context, Graph graph, std::string label, Windows windows)
    : context_(context),
      graph_(std::move(graph), context.rank()),
      label_(std::move(label)),
      windows_{windows.sends, windows.receives, windows.requests},
      room_(context.activities()),
      status_(at(graph_.size())),
      staged_users_left_(graph_.staged.size()),
      staged_block_(graph_.staged.size()),
      free_blocks_(graph_.pools.size()),
      next_acquire_(graph_.pools.size()),
      bound_(graph_.slots.size()) {
  PLAIT_ASSERT(windows.sends >= 1 && windows.receives >= 1 && windows.requests >= 1, "a window lets something through");
  std::size_t under_way = 0;
  for (const Lane lane : all_lanes) under_way += std::min(at(windows_[lane]), graph_.lane_order[lane].size());
  requests_.assign(under_way, MPI_REQUEST_NULL);
  request_operation_.resize(under_way);
  free_requests_.reserve(under_way);
  completions_.resize(under_way);
  completed_indices_.resize(under_way);
  mpi_statuses_.resize(under_way);

  std::size_t computations = 0;
  std::size_t flags = 0;
  for (const Compiled::Operation& op : graph_.operations) {
    computations += op.kind == Kind::compute || op.kind == Kind::reduce_local ? 1 : 0;
    flags += op.kind == Kind::signal || op.kind == Kind::await ? 1 : 0;
    PLAIT_ASSERT(op.peer < context.size(), "the other end of a message is a rank of the context");
  }
  ready_.reserve(computations);
  waiting_flags_.reserve(flags);
  for (std::size_t p = 0; p < graph_.pools.size(); ++p) free_blocks_[p].reserve(at(graph_.pools[p].blocks));
  tags_.emplace(context.reserve_tags(graph_.strands));
}

Executor::~Executor() {
  if (!active_) return;
  Backoff backoff;
  while (!mpi::is_finalized() && remaining_ > 0 && !broken_)
    context_.activities().advance() ? backoff.reset() : idle(backoff);
  end_run();
}

std::byte* Executor::address(SlotId slot, Index offset) const noexcept {
  const int index = static_cast<int>(slot);
  const int staged = graph_.staged_of_slot[at(index)];
  if (staged < 0) return bound_[at(index)].data + offset;
  const Compiled::PoolPlan& pool = graph_.pools[at(graph_.staged[at(staged)].pool)];
  return staging_.data() + pool.first_byte + staged_block_[at(staged)] * pool.block_bytes + offset;
}

void Executor::count_own_move(Index bytes) const noexcept {
  traffic_->sent_to(PeerClass::self).bytes += bytes;
  traffic_->received_from(PeerClass::self).bytes += bytes;
  timeline_.sent(PeerClass::self, {0, bytes});
  timeline_.received(PeerClass::self, {0, bytes});
}

void Executor::count_sent(int peer, Index bytes) const noexcept {
  const PeerClass peer_class = context_.topology().class_of(peer);
  traffic_->sent_to(peer_class) += {1, bytes};
  timeline_.sent(peer_class, {1, bytes});
}

void Executor::count_received(int peer, Index bytes) const noexcept {
  const PeerClass peer_class = context_.topology().class_of(peer);
  traffic_->received_from(peer_class) += {1, bytes};
  timeline_.received(peer_class, {1, bytes});
}

void Executor::start(std::span<const Binding> bindings, const void* arguments) {
  PLAIT_ASSERT(!active_, "one run of a schedule at a time");
  context_.expect_usable();
  if (bindings.size() != graph_.bound_slots.size()) {
    throw ArgumentError("bindings: " + std::to_string(bindings.size()) + " given, " +
                        std::to_string(graph_.bound_slots.size()) + " inputs and outputs to bind in " + label_);
  }
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const auto& slot = graph_.slots[at(graph_.bound_slots[i])];
    if (bindings[i].bytes < slot.bytes || (slot.writable && !bindings[i].writable)) {
      throw ArgumentError("bindings[" + std::to_string(i) + "]: " + std::to_string(bindings[i].bytes) + " bytes of " +
                          (bindings[i].writable ? "output" : "input") + ", expected at least " +
                          std::to_string(slot.bytes) + " bytes of " + (slot.writable ? "output" : "input") + " in " +
                          label_);
    }
  }
  begin_run(bindings, arguments);
}

void Executor::prepare() {
  const auto known = context_.counters().find(label_);
  traffic_ = known != context_.counters().end() ? &known->second : &context_.counters()[label_];
  if (staging_.size() < graph_.staging_bytes) staging_ = context_.staging().lease(graph_.staging_bytes);
}

void Executor::give_back() noexcept {
  if (!active_) staging_ = {};
}

void Executor::begin_run(std::span<const Binding> bindings, const void* arguments) {
  prepare();  // the last that may lack memory
  context_.activities().enlist(*this);

  for (std::size_t i = 0; i < bindings.size(); ++i) bound_[at(graph_.bound_slots[i])] = bindings[i];
  arguments_ = arguments;
  failure_ = nullptr;
  failed_peer_ = -1;
  ++runs_;
  timeline_.begin(context_, graph_, label_, runs_);

  for (int i = 0; i < graph_.size(); ++i) status_[at(i)] = {graph_.operations[at(i)].pending, State::waiting, false, 0};
  for (std::size_t s = 0; s < graph_.staged.size(); ++s) staged_users_left_[s] = graph_.staged[s].users;
  for (std::size_t p = 0; p < graph_.pools.size(); ++p) {
    free_blocks_[p].clear();
    for (Index b = graph_.pools[p].blocks; b-- > 0;) free_blocks_[p].push_back(static_cast<int>(b));
    next_acquire_[p] = 0;
  }
  free_requests_.clear();
  for (std::size_t r = requests_.size(); r-- > 0;) free_requests_.push_back(static_cast<int>(r));
  lane_head_ = {};
  lane_changed_ = {true, true, true};
  ready_.clear();
  waiting_flags_.clear();
  remaining_ = graph_.size();
  for (int i = 0; i < graph_.size(); ++i) {
    if (graph_.operations[at(i)].pending == 0) {
      ++status_[at(i)].pending;
      release_dependency(i);
    }
  }
  active_ = true;
  advance();
}

void Executor::end_run() {
  context_.activities().dismiss(*this);
  active_ = false;
  if (broken_) abandon_receives();
  timeline_.end();
  staging_ = {};
}

bool Executor::progress() {
  if (!active_) return true;
  context_.activities().advance();
  return remaining_ == 0 || broken_ != nullptr;
}

void Executor::wait() {
  PLAIT_ASSERT(!advancing_, "a computation does not wait for the run that it is part of");
  const RunTimeline::Waiting waiting(timeline_);
  Backoff backoff;
  while (active_ && remaining_ > 0 && !broken_) context_.activities().advance() ? backoff.reset() : idle(backoff);
  if (active_) end_run();
  if (broken_) std::rethrow_exception(broken_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (failed_peer_ >= 0) {
    const int peer = std::exchange(failed_peer_, -1);
    throw PeerFailed(peer, "rank " + std::to_string(peer) + " failed during " + label_ + ": its data did not come");
  }
}

// There was nothing to do. Where nothing but a request of this run can change that, a simulated MPI may block in it.
void Executor::idle(Backoff& backoff) noexcept {
  if (!mpi::is_simulated || context_.activities().count() > 1 || !waiting_flags_.empty()) return backoff.idle();
  blocks_ = true;
  advance();
  blocks_ = false;
}

bool Executor::advance() noexcept {
  if (broken_ || remaining_ == 0 || advancing_) return false;
  advancing_ = true;
  bool any = false;
  try {
    any = advance_or_throw();
  } catch (const std::exception& error) {
    broken_ = std::current_exception();
    context_.poison(error.what());
  } catch (...) {
    broken_ = std::current_exception();
    context_.poison("an exception of unknown type");
  }
  advancing_ = false;
  return any;
}

bool Executor::advance_or_throw() {
  timeline_.looks(!ready_.empty());
  bool any = complete_requests();
  any = poll_flags() || any;
  any = acquire_staging() || any;
  for (const Lane lane : all_lanes) any = post_lane(lane) || any;
  return compute_for_a_while() || any;
}

std::string Executor::describe() const {
  constexpr int most = 40;  // lines; the lowest unfinished operations tell what is stuck
  constexpr std::array<const char*, 4> states{"waits for", "may be posted", "is under way", "is done"};
  std::string text = label_ + ", rank " + std::to_string(context_.rank()) + ", run " + std::to_string(runs_) + ": " +
                     std::to_string(remaining_.load()) + " of " + std::to_string(graph_.size()) +
                     " operations unfinished\n";
  int lines = 0;
  for (int i = 0; i < graph_.size() && lines < most; ++i) {
    const Compiled::Operation& op = graph_.operations[at(i)];
    const Status& status = status_[at(i)];
    if (status.state == State::done) continue;
    ++lines;
    text += "  " + std::to_string(i) + " " + std::string(name(op.kind)) + " at (" + std::to_string(op.position.stage) +
            ", " + std::to_string(op.position.strand) + ", " + std::to_string(op.position.segment) + ")";
    if (op.peer >= 0) text += " peer " + std::to_string(op.peer) + ", " + std::to_string(op.range.bytes) + " bytes,";
    text += std::string(" ") + states[static_cast<std::size_t>(status.state)];
    if (status.state == State::waiting) text += " " + std::to_string(status.pending) + " others";
    if (status.failed) text += ", failed";
    text += "\n";
  }
  return text;
}

}  // namespace plait::schedule
