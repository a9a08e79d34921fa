#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/index.hpp"
#include "plait/base/operation_kind.hpp"
#include "plait/mpi/request.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/flags.hpp"

namespace plait::schedule {

/// Where an operation stands in the one total order of a schedule, compared field by field. The two ends of a message
/// name the same position; what depends on a message stands after it. Any assignment that keeps to this is free of
/// deadlock, however small the windows are; which one is chosen decides what is under way together.
///
/// At one position come: computations that wait for no message of that position (they may prepare its messages); the
/// messages, by sender, receiver, and as they were added, which is alike at both ends; requests; signals; awaits; and
/// the computations that wait for these.
///
/// `strand` also picks the message's tag: messages of one strand between two ranks never overtake each other.
struct Position {
  Index stage = 0;
  Index strand = 0;
  Index segment = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

enum class OperationId : int {};
enum class SlotId : int {};  ///< memory that operations name: bound by `Schedule::start`, or a block of a staging pool
enum class PoolId : int {};

/// `bytes` bytes from `offset` on in a slot.
struct Range {
  SlotId slot;
  Index offset;
  Index bytes;
};

/// What a computation sees of the run that it is part of.
class Run {
 public:
  virtual ~Run() = default;
  /// The first byte of a range (of a slot) in this run.
  [[nodiscard]] virtual std::byte* address(SlotId slot, Index offset = 0) const noexcept = 0;
  /// Counts bytes that a computation moved within this rank's memory in place of a message.
  virtual void count_own_move(Index bytes) const noexcept = 0;
  /// What was passed to `Schedule::start`, such as scalars; the caller of `start` and the computation agree on T.
  template <class T>
  [[nodiscard]] const T& arguments() const noexcept {
    return *static_cast<const T*>(raw_arguments());
  }

 protected:
  [[nodiscard]] virtual const void* raw_arguments() const noexcept = 0;
};

/// What a signal says of the operations before it: whether they failed, or only that they are over.
enum class Tells : unsigned char { outcome, end };

using Dependencies = std::vector<OperationId>;
using Slots = std::vector<SlotId>;
using ComputeFunction = std::function<void(const Run&, Index step)>;
using RequestFunction = std::function<mpi::Request(const Run&)>;

/// How much of a reduction is done in one step, in bytes: whole elements.
[[nodiscard]] Index reduce_step_bytes(const Combine& combine) noexcept;

/// This rank's part of a graph of operations, to be made into a `Schedule`.
///
/// Operations may depend on earlier ones only, at positions not above their own; a send, receive, request, signal or
/// await that depends on another of these, however indirectly, stands at a higher position than that one. (`Schedule`
/// checks it.)
class Graph {
 public:
  /// \param strands  how many strands there are: positions name strands 0 … strands - 1
  explicit Graph(int strands = 1);

  /// Memory that each `start` binds: of at least `bytes` bytes, only read (input), or also written (output).
  SlotId input(Index bytes);
  SlotId output(Index bytes);

  /// What operations use lives as long as the schedule that is made of them, such as memory for flags.
  void keep(std::shared_ptr<const void> used) { kept_.push_back(std::move(used)); }

  /// `blocks` blocks of staging memory of `block_bytes` each, from the context's pool.
  PoolId pool(Index block_bytes, Index blocks);

  /// A block of a pool, held from the first operation that names it to the end of the last one. Blocks are handed out
  /// in the order that `Position` describes; a pool has as many blocks as operations hold that are executed one by one
  /// in that order. It begins on a cache line, and one block follows the other.
  SlotId staging(PoolId pool);

  /// One message to (from) `peer`; ranges above `mpi::longest_message` travel as several. An empty one does not travel.
  OperationId send(Position position, int peer, Range range, Dependencies after = {});
  OperationId receive(Position position, int peer, Range range, Dependencies after = {});

  /// out ← a op b, element by element, piece by piece as a computation's steps. The ranges have the same length, whole
  /// elements; `out` overlaps neither operand, or is one of them.
  /// \pre  combine.sum_of_all() == nullptr
  OperationId reduce_local(Position position, Range a, Range b, Range out, const Combine& combine,
                           Dependencies after = {});

  /// Calls `f(run, step)` for step 0 … steps - 1, and looks after communication in between: a step should take well
  /// under a millisecond where latency counts. Zero steps make a join of what it depends upon. `uses` names the staging
  /// that `f` touches.
  OperationId compute(Position position, Index steps, ComputeFunction f, Slots uses = {}, Dependencies after = {});

  /// Says that a computation writes so many bytes for (reads them from) another rank of the node in memory that they
  /// share: they count as a message when it is done.
  void writes_for(OperationId computation, int peer, Index bytes);
  void reads_from(OperationId computation, int peer, Index bytes);

  /// Anything that yields an MPI request: MPI's own collectives on a communicator that nothing else uses, MPI-IO. All
  /// ranks have a collective's operation at the same position; requests start in the order of positions, at one
  /// position as they were added. One whose dependencies failed is started all the same, so that no rank waits for
  /// ever; what it brings then counts as failed here.
  OperationId request(Position position, RequestFunction start, Slots uses = {}, Dependencies after = {});

  /// Tells `readers` awaits on ranks of this node that what this operation depends upon is done; carries failure along,
  /// unless it only tells the end. The awaits stand at the position of their signal. A flag has one signaller, which
  /// may signal it several times in a run, at different positions and always for as many readers: each of its readers
  /// awaits all of these. The flags outlive the schedule.
  OperationId signal(Position position, const NodeFlags& flags, Index flag, int readers, Dependencies after = {},
                     Tells tells = Tells::outcome);
  /// Done when the flag was signalled at this position in the same run.
  OperationId await(Position position, const NodeFlags& flags, Index flag, Dependencies after = {});

 private:
  friend class Compiled;
  friend Exchanged traffic_of(const Graph& graph);

  using Kind = OperationKind;
  struct Slot {
    Index bytes;
    int pool;  // -1: bound by start
    bool writable;
  };
  struct Pool {
    Index block_bytes;
    Index blocks;
  };
  struct Move {
    OperationId computation;
    int peer;
    Index bytes;
    bool sends;
  };
  struct Node {
    Kind kind;
    Position position;
    int peer = -1;
    Range range{};  // of a message; what a reduction writes
    Range a{};      // of a reduction
    Range b{};
    std::optional<Combine> combine{};
    Index steps = 0;
    ComputeFunction compute{};
    RequestFunction request{};
    FlagCell* flag = nullptr;
    int readers = 0;
    Tells tells = Tells::outcome;
    Slots uses{};
    Dependencies after{};
  };

  void add_move(Move move);
  SlotId add_slot(Slot slot);
  OperationId add(Node node);
  OperationId message(Kind kind, Position position, int peer, Range range, Dependencies after);
  void expect_slot(SlotId slot) const;
  void expect_readable(Range range) const;
  void expect_writable(Range range) const;

  int strands_;
  std::vector<Slot> slots_;
  std::vector<Pool> pools_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<Node> nodes_;
  std::vector<Move> moves_;
};

/// What this rank sends and receives in a run: messages of its own, and what it moves in memory that a node shares.
/// What MPI's own collectives send is not known.
[[nodiscard]] Exchanged traffic_of(const Graph& graph);

}  // namespace plait::schedule
