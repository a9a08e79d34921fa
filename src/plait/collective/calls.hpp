#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/simd/reduce/element_of.hpp"
#include "plait/simd/reduce/reduce.hpp"

/// Collectives by plait's algorithms for those who want no graph: each call is one, over all ranks of a context, who
/// make the same calls in the same order with the same arguments but for the data. Any number of elements; algorithms
/// are chosen by the description of the machine that the context has. (`mpi::all_reduce` and its like are the MPI
/// library's own, for the few words that ranks agree on.)
///
/// What is agreed on. Ranks that run out of memory, or give arguments that are wrong, throw before anything is sent. A
/// blocking call of `agreed_bytes` or more, but for an all-to-all, throws this on all ranks, and also where they differ
/// in type, operation, root or counts, naming the argument and both values. A shorter one would take longer for that,
/// and one that begins would have to wait: there it is the caller's duty that all ranks give the same arguments, and
/// right ones; and what a rank that runs out of memory needs for its plan comes from a reserve of the context.
///
/// Calls that begin return at once; the memory is in use until `wait` has returned. Repeated calls on the same shape
/// are better served by a `Pipeline`, whose schedule is made once, and among the ranks of one node by a `NodeReducer`.
///
/// \throws ArgumentError  a root that does not exist, counts that are negative, not one for each rank, or more than
///                        there is memory for; an operation that MPI does not define on such elements
namespace plait::collective {

using schedule::Combine;

/// A collective, planned and with all memory that it takes, then under way. Destroying it waits for it.
class Pending {
 public:
  /// \throws std::bad_alloc
  Pending(schedule::Schedule schedule, const std::array<schedule::Binding, 2>& bindings, std::size_t used);

  /// Begins it, without lacking memory.
  Pending&& start() && {
    schedule_.start(std::span(bindings_).first(used_));
    return std::move(*this);
  }
  void start() & { std::move(*this).start(); }

  /// Moves it along; true when it is over on this rank. Never waits.
  bool progress() { return schedule_.progress(); }
  /// Returns when it is over on this rank.
  /// \throws what a combination threw; PeerFailed, if another rank's did; MpiError
  void wait() { schedule_.wait(); }

 private:
  schedule::Schedule schedule_;
  std::array<schedule::Binding, 2> bindings_;
  std::size_t used_;
};

/// Plans, to be begun with `start`; local, so that callers can agree on the outcome before. What has to be the same on
/// all ranks is added to `arguments`, if there are such.
///
/// data of all ranks ← data of `root`.
[[nodiscard]] Pending plan_broadcast(mpi::Context& context, std::span<std::byte> data, int root,
                                     mpi::Alike* arguments = nullptr);
/// data of `root` ← data[0] op data[1] op … of all ranks, whose own stays as it is.
[[nodiscard]] Pending plan_reduce(mpi::Context& context, std::span<std::byte> data, int root, const Combine& combine,
                                  mpi::Alike* arguments = nullptr);
/// data of all ranks ← data[0] op data[1] op …; the same bits on all of them.
[[nodiscard]] Pending plan_allreduce(mpi::Context& context, std::span<std::byte> data, const Combine& combine,
                                     mpi::Alike* arguments = nullptr);
/// out ← this rank's block of in[0] op in[1] op …: counts[i] elements for the i-th rank, one block behind the other.
[[nodiscard]] Pending plan_reduce_scatter(mpi::Context& context, std::span<const std::byte> in,
                                          std::span<std::byte> out, std::span<const Index> counts,
                                          const Combine& combine, mpi::Alike* arguments = nullptr);
/// all ← the blocks of all ranks, counts[i] elements of the i-th one, one behind the other; `own` is this rank's.
[[nodiscard]] Pending plan_all_gather(mpi::Context& context, std::span<const std::byte> own, std::span<std::byte> all,
                                      std::span<const Index> counts, Index element_bytes,
                                      mpi::Alike* arguments = nullptr);
/// The same to be run many times: on an input, this rank's block, and an output, the blocks of all ranks.
[[nodiscard]] schedule::Schedule all_gather_schedule(mpi::Context& context, std::span<const Index> counts,
                                                     Index element_bytes);
/// out ← the blocks that all ranks have for this one, receive_counts[i] elements from the i-th one; `in` has
/// send_counts[i] elements for it. What one rank sends another expects.
[[nodiscard]] Pending plan_all_to_all(mpi::Context& context, std::span<const std::byte> in,
                                      std::span<const Index> send_counts, std::span<std::byte> out,
                                      std::span<const Index> receive_counts, Index element_bytes,
                                      mpi::Alike* arguments = nullptr);

/// The same for C++'s types, begun.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] Pending ibroadcast(mpi::Context& context, std::span<T> data, int root) {
  return plan_broadcast(context, std::as_writable_bytes(data), root).start();
}
template <class T>
  requires simd::is_element<T>
[[nodiscard]] Pending ireduce(mpi::Context& context, std::span<T> data, int root, simd::ReduceOperation operation) {
  return plan_reduce(context, std::as_writable_bytes(data), root, {operation, simd::element_of<T>()}).start();
}
template <class T>
  requires simd::is_element<T>
[[nodiscard]] Pending iallreduce(mpi::Context& context, std::span<T> data, simd::ReduceOperation operation) {
  return plan_allreduce(context, std::as_writable_bytes(data), {operation, simd::element_of<T>()}).start();
}
template <class T>
  requires simd::is_element<T>
[[nodiscard]] Pending ireduce_scatter(mpi::Context& context, std::span<const T> in, std::span<T> out,
                                      std::span<const Index> counts, simd::ReduceOperation operation) {
  return plan_reduce_scatter(context, std::as_bytes(in), std::as_writable_bytes(out), counts,
                             {operation, simd::element_of<T>()})
      .start();
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] Pending iall_gather(mpi::Context& context, std::span<const T> own, std::span<T> all,
                                  std::span<const Index> counts) {
  return plan_all_gather(context, std::as_bytes(own), std::as_writable_bytes(all), counts, Index{sizeof(T)}).start();
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] Pending iall_to_all(mpi::Context& context, std::span<const T> in, std::span<const Index> send_counts,
                                  std::span<T> out, std::span<const Index> receive_counts) {
  return plan_all_to_all(context, std::as_bytes(in), send_counts, std::as_writable_bytes(out), receive_counts,
                         Index{sizeof(T)})
      .start();
}

/// What a blocking call moves at least of which ranks agree on arguments and memory before: a message more is little.
inline constexpr Index agreed_bytes = Index{64} << 10;

/// Carries out a call that moves so many bytes, the same on all ranks; `plan` plans it and names its arguments.
template <class Plan>
void call(mpi::Context& context, std::size_t bytes, const Plan& plan) {
  const bool agrees = static_cast<Index>(bytes) >= agreed_bytes;
  Pending pending =
      agrees ? mpi::agreed(context, [&](mpi::Alike& arguments) { return plan(&arguments); }) : plan(nullptr);
  std::move(pending).start().wait();
}

template <class T>
void broadcast(mpi::Context& context, std::span<T> data, int root) {
  call(context, data.size_bytes(), [&](mpi::Alike* arguments) {
    Pending planned = plan_broadcast(context, std::as_writable_bytes(data), root, arguments);
    if (arguments != nullptr) arguments->add_type<T>();
    return planned;
  });
}
template <class T>
void reduce(mpi::Context& context, std::span<T> data, int root, simd::ReduceOperation operation) {
  call(context, data.size_bytes(), [&](mpi::Alike* arguments) {
    return plan_reduce(context, std::as_writable_bytes(data), root, {operation, simd::element_of<T>()}, arguments);
  });
}
template <class T>
void allreduce(mpi::Context& context, std::span<T> data, simd::ReduceOperation operation) {
  call(context, data.size_bytes(), [&](mpi::Alike* arguments) {
    return plan_allreduce(context, std::as_writable_bytes(data), {operation, simd::element_of<T>()}, arguments);
  });
}
template <class T>
void reduce_scatter(mpi::Context& context, std::span<const T> in, std::span<T> out, std::span<const Index> counts,
                    simd::ReduceOperation operation) {
  call(context, in.size_bytes(), [&](mpi::Alike* arguments) {
    return plan_reduce_scatter(context, std::as_bytes(in), std::as_writable_bytes(out), counts,
                               {operation, simd::element_of<T>()}, arguments);
  });
}
template <class T>
void all_gather(mpi::Context& context, std::span<const T> own, std::span<T> all, std::span<const Index> counts) {
  call(context, all.size_bytes(), [&](mpi::Alike* arguments) {
    Pending planned =
        plan_all_gather(context, std::as_bytes(own), std::as_writable_bytes(all), counts, Index{sizeof(T)}, arguments);
    if (arguments != nullptr) arguments->add_type<T>();
    return planned;
  });
}
template <class T>
void all_to_all(mpi::Context& context, std::span<const T> in, std::span<const Index> send_counts, std::span<T> out,
                std::span<const Index> receive_counts) {
  iall_to_all(context, in, send_counts, out, receive_counts).wait();
}

}  // namespace plait::collective
