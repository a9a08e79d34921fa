#include "plait/mpi/node/active_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <string>
#include <thread>

#include "plait/base/backoff.hpp"
#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"

namespace plait::mpi {

std::vector<int> serving_ranks(std::span<const int> domains, int active) {
  PLAIT_ASSERT(active >= 1, "somebody does the work");
  const std::size_t ranks = domains.size();
  const std::size_t runs = std::min(ranks, static_cast<std::size_t>(active));
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int rank) { return domains[static_cast<std::size_t>(rank)]; });

  std::vector<int> serving(ranks);
  for (std::size_t place = 0; place < ranks; ++place) {
    const std::size_t run = place * runs / ranks;
    const std::size_t first_of_run = (run * ranks + runs - 1) / runs;
    serving[static_cast<std::size_t>(order[place])] = order[first_of_run];
  }
  return serving;
}

namespace {

constexpr int nobody = -1;
constexpr std::chrono::microseconds first_sleep{100};

// The active rank of each rank. All of them know where the others are.
std::vector<int> serving_each_rank(const NodeTopology& topology, int per_node) {
  const std::vector<int>& nodes = topology.nodes_of_ranks();
  std::vector<int> serving(nodes.size());
  std::vector<int> members, domains;
  for (int node = 0; node < topology.nodes(); ++node) {
    members.clear(), domains.clear();
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      if (nodes[rank] != node) continue;
      members.push_back(static_cast<int>(rank));
      domains.push_back(topology.domain_of(members.back()));
    }
    const std::vector<int> of_node = serving_ranks(domains, per_node);
    for (std::size_t i = 0; i < members.size(); ++i) {
      serving[static_cast<std::size_t>(members[i])] = members[static_cast<std::size_t>(of_node[i])];
    }
  }
  return serving;
}

void sleep_until(Context& context, Request& woken, std::chrono::microseconds interval) {
  const auto begin = std::chrono::steady_clock::now();
  while (!woken.test()) {
    if (context.activities().advance()) continue;
    const auto slept = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    std::this_thread::sleep_for(std::min(interval, std::max(first_sleep, slept / 16)));
  }
}

// Messages carry no data of the kernel, but tell that memory may be read: what is written before one is sent is there
// for who has received it.
void publish_memory() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace

ActiveRanks::ActiveRanks(Context& context, int per_node, std::chrono::microseconds interval)
    : context_(&context), interval_(interval) {
  agreed(context, [&](Alike& arguments) {
    arguments.add("per_node", per_node);
    expect_at_least("per_node", per_node, 1);
    if (interval.count() < 1) {
      throw ArgumentError("interval: " + std::to_string(interval.count()) + " us, expected at least 1");
    }
    tag_.emplace(context.reserve_tags(1));
    serving_ = serving_each_rank(context.topology(), per_node);
    for (int rank = 0; rank < context.size(); ++rank) {
      if (serving(rank) == rank) ranks_.push_back(rank);
      if (serving(rank) == context.rank()) served_.push_back(rank);
    }
    outcomes_.resize(ranks_.size());
  });
  const bool is_active = !served_.empty();
  const Communicator part = context.comm().split(is_active ? 1 : 0, context.rank());
  agreed(context, [&] {
    if (is_active) active_.emplace(part.handle());
  });
}

void ActiveRanks::run(const Kernel& kernel) {
  context_->expect_usable();
  std::exception_ptr failure;
  int failed = nobody;
  {
    const Context::Lent lent(*context_);
    if (is_active()) {
      expect_sleepers();
      Outcome own = Outcome::fine;
      try {
        kernel(*active_);
      } catch (...) {
        failure = std::current_exception();
        own = current_error_kind() == ErrorKind::peer_failed ? Outcome::let_down : Outcome::failed;
      }
      failed = first_failed(own);
      wake(failed);
    } else {
      failed = sleep_until_woken();
    }
  }
  if (failed == nobody) return;
  try {
    agree(*context_, context_->rank() == failed ? failure : nullptr);
  } catch (...) {
    if (failure) std::rethrow_exception(failure);
    throw;
  }
}

// All of the node, since its active ranks may read each other's memory, and that of whom the others work for.
void ActiveRanks::expect_sleepers() {
  for (const int rank : served_) {
    if (rank != context_->rank()) wait(start_receive(context_->comm(), {}, rank, tag_->first()));
  }
  publish_memory();
  wait(start_barrier(active_->topology().node()));
  publish_memory();
}

int ActiveRanks::first_failed(Outcome own) {
  publish_memory();
  wait(start_all_gather_bytes(active_->comm(), std::as_bytes(std::span(&own, 1)),
                              std::as_writable_bytes(std::span(outcomes_))));
  publish_memory();
  for (const Outcome kind : {Outcome::failed, Outcome::let_down}) {
    const auto first = std::ranges::find(outcomes_, kind);
    if (first != outcomes_.end()) return ranks_[static_cast<std::size_t>(first - outcomes_.begin())];
  }
  return nobody;
}

void ActiveRanks::wake(int failed) {
  for (const int rank : served_) {
    if (rank == context_->rank()) continue;
    wait(start_send(context_->comm(), std::as_bytes(std::span(&failed, 1)), rank, tag_->first()));
  }
}

int ActiveRanks::sleep_until_woken() {
  int failed = nobody;
  const int active = serving(context_->rank());
  Request woken = start_receive(context_->comm(), std::as_writable_bytes(std::span(&failed, 1)), active, tag_->first());
  publish_memory();
  wait(start_send(context_->comm(), {}, active, tag_->first()));
  sleep_until(*context_, woken, interval_);
  publish_memory();
  return failed;
}

// A rank that is waited for may itself wait for this one, on a schedule of the context.
void ActiveRanks::wait(Request request) {
  Backoff backoff;
  while (!request.test()) {
    const bool any = context_->activities().advance();
    (active_ && active_->activities().advance()) || any ? backoff.reset() : backoff.idle();
  }
}

void agreed_by(Context& context, int rank, FunctionRef<void()> f) {
  agreed(context, [&] {
    std::exception_ptr failure;
    try {
      if (context.rank() == rank) f();
    } catch (...) {
      failure = std::current_exception();
    }
    Request all = start_barrier(context.comm());
    constexpr std::chrono::milliseconds interval{2};  // as all wait for the last to wake up
    sleep_until(context, all, interval);
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace plait::mpi
