#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/simd/reduce/element_of.hpp"
#include "plait/simd/reduce/reduce.hpp"

/// Collectives for those who want no graph: each call is one, over all ranks of a context, who make the same calls in
/// the same order with the same arguments but for the data. Any number of elements; algorithms are chosen by the
/// description of the machine that the context has.
///
/// Arguments are not compared between ranks, which would take as long as a short call: what is wrong on some ranks only
/// is thrown there, and the others may wait for these.
///
/// Those that start return at once; the memory is in use until `wait` has returned. Repeated calls on the same shape
/// are better served by a `Pipeline`, whose schedule is made once, and among the ranks of one node by a `NodeReducer`.
///
/// \throws ArgumentError  a root that does not exist, counts that are negative, not one for each rank, or more than
///                        there is memory for; an operation that MPI does not define on such elements
namespace plait::collective {

using schedule::Combine;

/// A collective under way. Destroying it waits for it.
class Pending {
 public:
  Pending(schedule::Schedule schedule, std::span<const schedule::Binding> bindings) : schedule_(std::move(schedule)) {
    schedule_.start(bindings);
  }

  /// Moves it along; true when it is over on this rank. Never waits.
  bool progress() { return schedule_.progress(); }
  /// Returns when it is over on this rank.
  /// \throws what a combination threw; PeerFailed, if another rank's did; MpiError
  void wait() { schedule_.wait(); }

 private:
  schedule::Schedule schedule_;
};

/// data of all ranks ← data of `root`.
[[nodiscard]] Pending start_broadcast(mpi::Context& context, std::span<std::byte> data, int root);
/// data of `root` ← data[0] op data[1] op … of all ranks, whose own stays as it is.
[[nodiscard]] Pending start_reduce(mpi::Context& context, std::span<std::byte> data, int root, const Combine& combine);
/// data of all ranks ← data[0] op data[1] op …; the same bits on all of them.
[[nodiscard]] Pending start_allreduce(mpi::Context& context, std::span<std::byte> data, const Combine& combine);
/// out ← this rank's block of in[0] op in[1] op …: counts[i] elements for the i-th rank, one block behind the other.
[[nodiscard]] Pending start_reduce_scatter(mpi::Context& context, std::span<const std::byte> in,
                                           std::span<std::byte> out, std::span<const Index> counts,
                                           const Combine& combine);
/// all ← the blocks of all ranks, counts[i] elements of the i-th one, one behind the other; `own` is this rank's.
[[nodiscard]] Pending start_all_gather(mpi::Context& context, std::span<const std::byte> own, std::span<std::byte> all,
                                       std::span<const Index> counts, Index element_bytes);
/// The same to be run many times: on an input, this rank's block, and an output, the blocks of all ranks.
[[nodiscard]] schedule::Schedule all_gather_schedule(mpi::Context& context, std::span<const Index> counts,
                                                     Index element_bytes);
/// out ← the blocks that all ranks have for this one, receive_counts[i] elements from the i-th one; `in` has
/// send_counts[i] elements for it. What one rank sends another expects.
[[nodiscard]] Pending start_all_to_all(mpi::Context& context, std::span<const std::byte> in,
                                       std::span<const Index> send_counts, std::span<std::byte> out,
                                       std::span<const Index> receive_counts, Index element_bytes);

/// The same for C++'s types, without and with waiting.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] Pending ibroadcast(mpi::Context& context, std::span<T> data, int root) {
  return start_broadcast(context, std::as_writable_bytes(data), root);
}
template <class T>
  requires simd::is_element<T>
[[nodiscard]] Pending ireduce(mpi::Context& context, std::span<T> data, int root, simd::ReduceOperation operation) {
  return start_reduce(context, std::as_writable_bytes(data), root, {operation, simd::element_of<T>()});
}
template <class T>
  requires simd::is_element<T>
[[nodiscard]] Pending iallreduce(mpi::Context& context, std::span<T> data, simd::ReduceOperation operation) {
  return start_allreduce(context, std::as_writable_bytes(data), {operation, simd::element_of<T>()});
}
template <class T>
  requires simd::is_element<T>
[[nodiscard]] Pending ireduce_scatter(mpi::Context& context, std::span<const T> in, std::span<T> out,
                                      std::span<const Index> counts, simd::ReduceOperation operation) {
  return start_reduce_scatter(context, std::as_bytes(in), std::as_writable_bytes(out), counts,
                              {operation, simd::element_of<T>()});
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] Pending iall_gather(mpi::Context& context, std::span<const T> own, std::span<T> all,
                                  std::span<const Index> counts) {
  return start_all_gather(context, std::as_bytes(own), std::as_writable_bytes(all), counts, Index{sizeof(T)});
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] Pending iall_to_all(mpi::Context& context, std::span<const T> in, std::span<const Index> send_counts,
                                  std::span<T> out, std::span<const Index> receive_counts) {
  return start_all_to_all(context, std::as_bytes(in), send_counts, std::as_writable_bytes(out), receive_counts,
                          Index{sizeof(T)});
}

template <class T>
void broadcast(mpi::Context& context, std::span<T> data, int root) {
  ibroadcast(context, data, root).wait();
}
template <class T>
void reduce(mpi::Context& context, std::span<T> data, int root, simd::ReduceOperation operation) {
  ireduce(context, data, root, operation).wait();
}
template <class T>
void allreduce(mpi::Context& context, std::span<T> data, simd::ReduceOperation operation) {
  iallreduce(context, data, operation).wait();
}
template <class T>
void reduce_scatter(mpi::Context& context, std::span<const T> in, std::span<T> out, std::span<const Index> counts,
                    simd::ReduceOperation operation) {
  ireduce_scatter(context, in, out, counts, operation).wait();
}
template <class T>
void all_gather(mpi::Context& context, std::span<const T> own, std::span<T> all, std::span<const Index> counts) {
  iall_gather(context, own, all, counts).wait();
}
template <class T>
void all_to_all(mpi::Context& context, std::span<const T> in, std::span<const Index> send_counts, std::span<T> out,
                std::span<const Index> receive_counts) {
  iall_to_all(context, in, send_counts, out, receive_counts).wait();
}

}  // namespace plait::collective
