#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "plait/base/backoff.hpp"
#include "plait/base/counters.hpp"
#include "plait/mpi/activity.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/request.hpp"
#include "plait/mpi/staging.hpp"
#include "plait/schedule/compiled.hpp"
#include "plait/schedule/run_timeline.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::schedule {

/// The state of one schedule's run and the loop that moves it along.
///
/// Why it can't deadlock: take the lowest unfinished message of all ranks. What it depends upon is lower, so done; its
/// staging block is free (see `Compiled::expect_staging_suffices`); it is the lowest of its lane and of its channel at
/// both ends, so inside any window; hence it is posted at both ends, and ends.
class Executor final : public mpi::Activity, public Run {
 public:
  Executor(mpi::Context& context, Graph graph, std::string label, Windows windows);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() override;

  void prepare();
  void give_back() noexcept;
  void start(std::span<const Binding> bindings, const void* arguments);
  bool progress();
  void wait();
  bool advance() noexcept override;

  [[nodiscard]] bool active() const noexcept { return active_; }
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] const Compiled& graph() const noexcept { return graph_; }

  [[nodiscard]] std::byte* address(SlotId slot, Index offset) const noexcept override;
  void count_own_move(Index bytes) const noexcept override;

 private:
  enum class State : unsigned char { waiting, eligible, posted, done };
  struct Status {
    int pending;
    State state;
    bool failed;
    Index step;
  };

  [[nodiscard]] const void* raw_arguments() const noexcept override { return arguments_; }

  void count_sent(int peer, Index bytes) const noexcept;
  void count_received(int peer, Index bytes) const noexcept;
  void idle(Backoff& backoff) noexcept;
  bool advance_or_throw();
  bool complete_requests();
  bool acquire_staging();
  bool post_lane(Compiled::Lane lane);
  bool poll_flags();
  bool compute_for_a_while();
  bool compute_lowest();
  void post(Compiled::Lane lane, int operation);
  void received(int operation, Index bytes);
  void reduce_step(const Compiled::Operation& op, Index step);
  void release_dependency(int operation);
  void finish(int operation, bool failed);
  void begin_run(std::span<const Binding> bindings, const void* arguments);
  void end_run();
  void abandon_receives() noexcept;

  mpi::Context& context_;
  const Compiled graph_;
  const std::string label_;
  const std::array<int, Compiled::lanes> windows_;
  const mpi::Activities::Room room_;

  // Of the run. Everything is as large as it can get, so that runs allocate nothing.
  std::vector<Status> status_;
  std::vector<int> staged_users_left_;
  std::vector<int> staged_block_;
  std::vector<std::vector<int>> free_blocks_;
  std::vector<std::size_t> next_acquire_;
  std::array<std::size_t, Compiled::lanes> lane_head_{};
  std::array<bool, Compiled::lanes> lane_changed_{};
  std::vector<int> ready_;  // computations, a heap with the lowest first
  std::vector<int> waiting_flags_;
  std::vector<Binding> bound_;  // by slot
  std::vector<MPI_Request> requests_;
  std::vector<int> request_operation_;
  std::vector<int> free_requests_;
  std::vector<mpi::Completion> completions_;
  std::vector<int> completed_indices_;
  std::vector<MPI_Status> mpi_statuses_;
  // Last: where a rank runs out of memory before, it can try again with the same tags as the others.
  std::optional<mpi::Tags> tags_;

  mpi::StagingPool::Lease staging_;
  const void* arguments_ = nullptr;
  TrafficCounters* traffic_ = nullptr;
  RunTimeline timeline_;
  std::exception_ptr failure_;
  std::exception_ptr broken_;  // an MPI error: the run can't be finished
  int failed_peer_ = -1;
  std::atomic<int> remaining_ = 0;
  std::uint64_t runs_ = 0;
  bool active_ = false;
  bool advancing_ = false;
  bool blocks_ = false;  // until a request is complete
};

}  // namespace plait::schedule
