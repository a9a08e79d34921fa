// How the operations of a run move from waiting to done.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/message.hpp"
#include "plait/schedule/executor.hpp"

namespace plait::schedule {

namespace {

using Kind = Compiled::Kind;
using Lane = Compiled::Lane;

constexpr double seconds_between_polls = 100e-6;  // at most, but for one step

// How many signals a flag has had with this one (or the one that is waited for), in all runs.
std::uint64_t signals_with(const Compiled::Operation& op, std::uint64_t run) {
  return (run - 1) * static_cast<std::uint64_t>(op.flag_rounds) + static_cast<std::uint64_t>(op.flag_round) + 1;
}
// A flag's `posted`: that number (modulo 2^32) in the upper half, the rank + 1 of a signaller that failed in the lower.
constexpr std::uint64_t posted_as(std::uint64_t signal, int failed_rank) {
  return signal << 32 | static_cast<std::uint64_t>(failed_rank + 1);
}
constexpr bool is_posted_as(std::uint64_t signal, std::uint64_t posted) {
  return static_cast<std::uint32_t>(signal) == posted >> 32;
}
constexpr int failed_rank_of(std::uint64_t posted) { return static_cast<int>(posted & 0xffffffffU) - 1; }

}  // namespace

bool Executor::complete_requests() {
  if (free_requests_.size() == requests_.size()) return false;
  const auto some = blocks_ ? mpi::wait_some : mpi::test_some;
  const auto completed = some(requests_, completions_, completed_indices_, mpi_statuses_);
  for (const mpi::Completion& completion : completed) {
    const int operation = request_operation_[at(completion.index)];
    free_requests_.push_back(completion.index);
    if (graph_.operations[at(operation)].kind == Kind::receive) {
      received(operation, completion.bytes);
    } else {
      finish(operation, status_[at(operation)].failed);
    }
  }
  return !completed.empty();
}

void Executor::received(int operation, Index bytes) {
  timeline_.carries(operation, bytes);
  const Compiled::Operation& op = graph_.operations[at(operation)];
  if (bytes == op.range.bytes) {
    count_received(op.peer, bytes);
    finish(operation, status_[at(operation)].failed);
    return;
  }
  if (bytes != 0) {
    throw MpiError("a message of " + std::to_string(bytes) + " bytes from rank " + std::to_string(op.peer) + " in " +
                   label_ + ", where " + std::to_string(op.range.bytes) + " bytes were expected");
  }
  if (failed_peer_ < 0) failed_peer_ = op.peer;
  finish(operation, true);
}

// The memory is about to be used for something else. What can't be taken back, such as a message that is half way, has
// to be left to the poisoned context.
void Executor::abandon_receives() noexcept {
  for (std::size_t entry = 0; entry < requests_.size(); ++entry) {
    if (requests_[entry] == MPI_REQUEST_NULL) continue;
    if (graph_.operations[at(request_operation_[entry])].kind == Kind::receive) mpi::abandon(requests_[entry]);
    requests_[entry] = MPI_REQUEST_NULL;
  }
}

bool Executor::acquire_staging() {
  bool any = false;
  for (std::size_t p = 0; p < graph_.pools.size(); ++p) {
    const auto& order = graph_.pools[p].acquire_order;
    while (next_acquire_[p] < order.size() && !free_blocks_[p].empty()) {
      const int staged = order[next_acquire_[p]++];
      staged_block_[at(staged)] = free_blocks_[p].back();
      free_blocks_[p].pop_back();
      const Compiled::StagedSlot& slot = graph_.staged[at(staged)];
      for (int u = slot.first_user; u < slot.last_user; ++u) release_dependency(graph_.staged_users[at(u)]);
      any = true;
    }
  }
  return any;
}

bool Executor::post_lane(Lane lane) {
  if (!lane_changed_[lane]) return false;
  lane_changed_[lane] = false;
  const auto& order = graph_.lane_order[lane];
  auto& head = lane_head_[lane];
  while (head < order.size() && status_[at(order[head])].state == State::done) ++head;
  bool any = false;
  const std::size_t end = std::min(order.size(), head + at(windows_[lane]));
  for (std::size_t k = head; k < end; ++k) {
    const int operation = order[k];
    if (status_[at(operation)].state != State::eligible) continue;
    const int before = graph_.operations[at(operation)].channel_prev;
    if (before >= 0 && status_[at(before)].state < State::posted) continue;
    post(lane, operation);
    any = true;
  }
  return any;
}

void Executor::post(Lane lane, int operation) {
  const Compiled::Operation& op = graph_.operations[at(operation)];
  Status& status = status_[at(operation)];
  const int tag = tags_->first() + static_cast<int>(op.position.strand);
  mpi::Request request;
  timeline_.posting(operation);
  if (lane == Compiled::sends) {
    const Index bytes = status.failed ? 0 : op.range.bytes;
    const std::byte* data = status.failed ? nullptr : address(op.range.slot, op.range.offset);
    request = mpi::start_send(context_.comm(), {data, static_cast<std::size_t>(bytes)}, op.peer, tag);
    if (bytes > 0) count_sent(op.peer, bytes);
    timeline_.carries(operation, bytes);
  } else if (lane == Compiled::receives) {
    // A receive whose dependencies failed is posted all the same: its message comes.
    request = mpi::start_receive(context_.comm(),
                                 {address(op.range.slot, op.range.offset), static_cast<std::size_t>(op.range.bytes)},
                                 op.peer, tag);
  } else {
    request = (*op.request)(*this);
  }
  timeline_.posted(operation);
  status.state = State::posted;
  const int entry = free_requests_.back();
  free_requests_.pop_back();
  requests_[at(entry)] = request.release();
  request_operation_[at(entry)] = operation;
  if (requests_[at(entry)] == MPI_REQUEST_NULL) {  // done at once, and MPI would never tell
    free_requests_.push_back(entry);
    finish(operation, status.failed);
  }
}

bool Executor::poll_flags() {
  bool any = false;
  for (std::size_t k = 0; k < waiting_flags_.size();) {
    const int operation = waiting_flags_[k];
    const Compiled::Operation& op = graph_.operations[at(operation)];
    const std::atomic_ref<std::uint64_t> posted(op.flag->posted);
    const std::atomic_ref<std::uint64_t> consumed(op.flag->consumed);
    const Status& status = status_[at(operation)];
    const std::uint64_t number = signals_with(op, runs_);
    if (op.kind == Kind::signal) {
      if (consumed.load(std::memory_order_acquire) != (number - 1) * static_cast<std::uint64_t>(op.readers)) {
        ++k;
        continue;
      }
      const bool failed = status.failed && op.tells == Tells::outcome;
      posted.store(posted_as(number, failed ? context_.rank() : -1), std::memory_order_release);
      finish(operation, failed);
    } else {
      const std::uint64_t seen = posted.load(std::memory_order_acquire);
      if (!is_posted_as(number, seen)) {
        ++k;
        continue;
      }
      const int failed = failed_rank_of(seen);
      if (failed >= 0 && failed_peer_ < 0) failed_peer_ = failed;
      consumed.fetch_add(1, std::memory_order_acq_rel);
      finish(operation, status.failed || failed >= 0);
    }
    waiting_flags_.erase(waiting_flags_.begin() + static_cast<std::ptrdiff_t>(k));
    any = true;
  }
  return any;
}

// A look at the network costs microseconds (MPICH's MPI_Testsome looks once for every eight requests), so several short
// steps are done between two of them. What they have packed is sent, and signalled, at once.
bool Executor::compute_for_a_while() {
  bool any = false;
  const Stopwatch watch;
  while (!ready_.empty()) {
    any = true;
    const bool takes_time = graph_.operations[at(ready_.front())].kind == Kind::compute;
    if (!compute_lowest()) continue;
    post_lane(Compiled::sends);
    poll_flags();
    // Simulated time goes by in computations alone, and has nothing to do with that of a watch.
    if (mpi::is_simulated ? takes_time : watch.seconds() >= seconds_between_polls) break;
  }
  return any;
}

// True if there was work to do; joins and what failed before end without any.
bool Executor::compute_lowest() {
  const int operation = ready_.front();
  const Compiled::Operation& op = graph_.operations[at(operation)];
  Status& status = status_[at(operation)];
  const bool works = !status.failed && status.step < op.steps;
  if (works) {
    const Nanoseconds begin = timeline_.work_begins();
    try {
      if (op.kind == Kind::compute) {
        (*op.compute)(*this, status.step);
      } else {
        reduce_step(op, status.step);
      }
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
      status.failed = true;
    }
    timeline_.worked(operation, begin);
    ++status.step;
  }
  if (status.failed || status.step >= op.steps) {
    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    ready_.pop_back();
    finish(operation, status.failed);
  }
  return works;
}

void Executor::reduce_step(const Compiled::Operation& op, Index step) {
  const Index step_bytes = reduce_step_bytes(*op.combine);
  const Index done = step * step_bytes;
  const auto at_step = [&](const Range& range) { return address(range.slot, range.offset + done); };
  (*op.combine)(std::min(step_bytes, op.range.bytes - done) / op.combine->element_bytes(), at_step(op.a), at_step(op.b),
                at_step(op.range));
}

void Executor::release_dependency(int operation) {
  Status& status = status_[at(operation)];
  if (--status.pending > 0) return;
  status.state = State::eligible;
  timeline_.eligible(operation);
  switch (graph_.operations[at(operation)].kind) {
    case Kind::send: lane_changed_[Compiled::sends] = true; break;
    case Kind::receive: lane_changed_[Compiled::receives] = true; break;
    case Kind::request: lane_changed_[Compiled::requests] = true; break;
    case Kind::compute:
    case Kind::reduce_local:
      ready_.push_back(operation);
      std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
      break;
    case Kind::signal:
    case Kind::await: waiting_flags_.push_back(operation); break;
  }
}

void Executor::finish(int operation, bool failed) {
  Status& status = status_[at(operation)];
  status.state = State::done;
  status.failed = failed;
  timeline_.ended(operation, failed);
  lane_changed_ = {true, true, true};
  if (!failed) {
    for (const auto& move : graph_.moves_of(operation))
      move.sends ? count_sent(move.peer, move.bytes) : count_received(move.peer, move.bytes);
  }
  for (const int next : graph_.dependents_of(operation)) {
    if (failed) status_[at(next)].failed = true;
    release_dependency(next);
  }
  for (const int staged : graph_.staged_by(operation)) {
    if (--staged_users_left_[at(staged)] > 0) continue;
    free_blocks_[at(graph_.staged[at(staged)].pool)].push_back(staged_block_[at(staged)]);
  }
  --remaining_;
}

}  // namespace plait::schedule
