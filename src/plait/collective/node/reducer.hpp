#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/collective/node/board.hpp"
#include "plait/collective/node/messages.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/collective/node/rounds.hpp"
#include "plait/collective/node/slots.hpp"
#include "plait/collective/node/wait.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/simd/reduce/element_of.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::collective {

using schedule::Combine;

/// Reductions among the ranks of one node, through memory that they share:
///
///     result[i] = in[i] of rank 0 op in[i] of rank 1 op … op in[i] of rank P - 1
///
/// combined in just this order, from the left, by every rank the elements of its slice. So all ranks get the same bits
/// (but for the payload of a NaN), whatever the timing, and operations need not be commutative; and a sum of the same
/// ranks' operands is the same in each of the calls below and for every n.
///
/// Ranks are those of `context.topology().node()`; where the context spans several nodes, each reduces by itself. All
/// calls are collective over the node: its ranks make the same calls in the same order, with the same n, counts, root
/// and operation. Which call it is, its n, element type, operation and root travel beside the operands: where they
/// differ, or a rank's arguments are wrong, all throw who look at the operands of others. These are all ranks, but with
/// operands of up to 2 KB only those that get a result. That counts are the same, and what a caller's own operation
/// does to elements of what size, is the callers' duty. Calls block, and until they return they keep MPI and the
/// context's activities going. A repeated call allocates nothing.
///
/// Up to 2 KB, and an allreduce of up to 8 KB between two ranks, cost one hop between caches. Larger operands are cut
/// into pieces and staged in a few hundred KB of shared memory a rank, which the reducer keeps. Operands and results in
/// memory from `Context::allocate_shared` are read and written in place, each rank's by itself, which saves the copies;
/// such memory lives until all ranks have returned. Without shared memory the operands travel as messages.
///
/// `out` is `in`, or does not overlap it. Where combining throws on a rank, that rank throws this, the others
/// `PeerFailed` with its number, results are undefined, and the next call works as ever.
///
/// \throws ArgumentError  a negative n, a root that does not exist, an element of more than `longest_element` bytes;
///                        arguments that are not the same on all ranks, naming the first that differs and both values
class NodeReducer {
 public:
  /// Collective over the context, which outlives the reducer. Takes some communication; callers keep it.
  /// \param isa  for what it copies; operations bring their own
  /// \throws std::bad_alloc, OutOfMemory  on all ranks, where one has too little memory of its own
  explicit NodeReducer(mpi::Context& context, simd::Isa isa = simd::selected_isa());
  NodeReducer(const NodeReducer&) = delete;
  NodeReducer& operator=(const NodeReducer&) = delete;
  ~NodeReducer() = default;

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Of the calling rank, in the node.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// Whether operands are reduced through shared memory; the same on all ranks of the node.
  [[nodiscard]] bool shares_memory() const noexcept { return board_.has_value(); }

  static constexpr Index longest_element = 4096;

  /// out ← the result, on all ranks.
  /// \pre  in and out have n elements
  void allreduce(const void* in, void* out, Index n, const Combine& combine);

  /// out ← the result, on the rank `root`; the `out` of others is not looked at.
  void reduce(const void* in, void* out, Index n, int root, const Combine& combine);

  /// out ← this rank's share of the result: of its elements those from counts[0] + … + counts[rank - 1] on,
  /// counts[rank] of them. In place they come to lie at the beginning, and what is behind them is undefined.
  /// \pre  in has as many elements as all counts together
  void reduce_scatter(const void* in, void* out, std::span<const Index> counts, const Combine& combine);

  /// The same with n elements for each rank.
  void reduce_scatter_block(const void* in, void* out, Index n, const Combine& combine);

  /// out ← in of rank 0 op in of rank 1 op … op in of this rank.
  /// \pre  in and out have n elements; combine.sum_of_all() == nullptr
  void scan(const void* in, void* out, Index n, const Combine& combine);

  /// The same up to the rank before this one; the `out` of rank 0 is not looked at.
  void exscan(const void* in, void* out, Index n, const Combine& combine);

  /// The same for C++'s types, in place: by one of MPI's operations, or by T f(T, T).
  template <class T>
  void allreduce(std::span<T> data, simd::ReduceOperation operation) {
    allreduce(data.data(), data.data(), length(data), {operation, simd::element_of<T>()});
  }
  template <class T, class F>
    requires std::is_invocable_r_v<T, const F&, const T&, const T&>
  void allreduce(std::span<T> data, const F& f) {
    allreduce(data.data(), data.data(), length(data), Combine::elementwise<T>(f));
  }
  template <class T>
    requires simd::is_element<T>
  [[nodiscard]] T allreduce(T value, simd::ReduceOperation operation) {
    allreduce(std::span<T>(&value, 1), operation);
    return value;
  }

 private:
  template <class T>
  [[nodiscard]] static Index length(std::span<T> data) noexcept {
    return static_cast<Index>(data.size());
  }
  // Lets the others know if it throws, who would wait for this rank.
  template <class F>
  void checked(const F& check);
  void check(Index n, const Combine& combine) const;
  void expect_alike_by_message(node::Arguments arguments);
  void run(const void* in, void* out, Index n, node::Deliver deliver, int root, const Combine& combine);

  mpi::Context* context_;
  int ranks_;
  int rank_;
  node::Wait wait_;
  std::optional<node::Board> board_;
  std::optional<node::Slots> slots_;
  std::optional<node::Rounds> rounds_;
  std::optional<node::Messages> messages_;
  std::vector<Index> begins_;               // of the slices
  std::vector<node::Arguments> arguments_;  // of the ranks, where they share no memory
};

}  // namespace plait::collective
