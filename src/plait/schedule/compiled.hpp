#pragma once

#include <span>
#include <vector>

#include "plait/schedule/graph.hpp"

namespace plait::schedule {

/// A graph brought into the order in which it is executed, with everything that does not change from run to run worked
/// out: dependents, posting orders, staging lifetimes.
///
/// Operations are numbered in the order that `Position` describes. The messages of two ranks come in the same order on
/// both, whatever else each of them has at that position; staging blocks are handed out in this order, too.
class Compiled {
 public:
  using Kind = Graph::Kind;

  /// \throws ContractViolation  if the graph breaks a rule of `Graph`
  explicit Compiled(Graph graph, int own_rank);
  Compiled(const Compiled&) = delete;  // operations point to the functions of nodes_
  Compiled& operator=(const Compiled&) = delete;

  /// The three kinds of operations that MPI has under way, each with a window of its own.
  enum Lane : unsigned char { sends, receives, requests, lanes };

  struct Operation {
    Kind kind;
    Position position;
    int peer;
    Range range;
    Range a, b;
    const Combine* combine;
    Index steps;
    const ComputeFunction* compute;
    const RequestFunction* request;
    FlagCell* flag;
    int readers;
    Tells tells;
    int flag_round, flag_rounds;  // which of how many signals of its flag this is or waits for
    int pending;                  // dependencies and staging blocks to wait for
    int channel_prev;  // the operation of the same lane, peer and strand that must be posted before; -1 if none
    int first_dependent, last_dependent;
    int first_staging, last_staging;
    int first_move, last_move;
  };
  struct StagedSlot {
    int slot;
    int pool;
    int users;
    int first_user, last_user;  // into staged_users
  };
  struct PoolPlan {
    Index block_bytes;
    Index blocks;
    Index first_byte;                // in the schedule's staging memory
    std::vector<int> acquire_order;  // of staged slots
  };

  [[nodiscard]] int size() const noexcept { return static_cast<int>(operations.size()); }
  [[nodiscard]] std::span<const int> dependents_of(int operation) const;
  [[nodiscard]] std::span<const int> staged_by(int operation) const;
  /// In memory that a node shares.
  [[nodiscard]] std::span<const Graph::Move> moves_of(int operation) const;

  std::vector<Operation> operations;
  std::vector<int> dependents;
  std::vector<int> staged_uses;  // indices into staged
  std::vector<StagedSlot> staged;
  std::vector<int> staged_users;  // operations
  std::vector<PoolPlan> pools;
  std::vector<int> lane_order[lanes];
  std::vector<Graph::Slot> slots;
  std::vector<int> staged_of_slot;  // -1 for bound slots
  std::vector<int> bound_slots;     // in the order of their making
  Exchanged traffic;
  Index staging_bytes = 0;
  int strands = 1;

 private:
  [[nodiscard]] std::vector<int> execution_order(int own_rank) const;
  void fill_lanes();
  void link_channels();
  void count_flag_rounds();
  void plan_staging(const std::vector<Slots>& uses);
  void expect_staging_suffices(int own_rank) const;
  [[nodiscard]] bool are_one_step(int first, int other, int own_rank) const;

  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<Graph::Node> nodes_;  // keeps the functions alive
  std::vector<Graph::Move> moves_;  // by operation
};

}  // namespace plait::schedule
