#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/datatype.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/mpi/request.hpp"

/// MPI's own collectives, for control data: agreement, sizes, checksums. They wait as `Backoff` does, so that ranks
/// that outnumber the cores do not starve each other. Payload travels on schedules.
///
/// All are collective over `comm` and throw `MpiError`. Any counts, also above 2^31 - 1.
namespace plait::mpi {

void barrier(const Communicator& comm);
/// The same, under way.
[[nodiscard]] Request start_barrier(const Communicator& comm);

/// Type-erased forms; the templates below are what callers use.
void broadcast_bytes(const Communicator& comm, std::span<std::byte> data, int root);
void all_reduce_bytes(const Communicator& comm, std::span<std::byte> data, const Reduction& reduction);
void all_gather_bytes(const Communicator& comm, std::span<const std::byte> own, std::span<std::byte> all);
/// The same, under way.
[[nodiscard]] Request start_all_gather_bytes(const Communicator& comm, std::span<const std::byte> own,
                                             std::span<std::byte> all);
void prefix_reduce_bytes(const Communicator& comm, std::span<std::byte> data, const Reduction& reduction);
void all_to_all_bytes(const Communicator& comm, std::span<const std::byte> to_send, std::span<const Index> send_bytes,
                      std::span<std::byte> received, std::span<const Index> receive_bytes);

/// To each rank r what lies at `to_send[r]`, and from each what comes to lie at `received[r]`, all of it under way at
/// once; a rank's own part stays with the caller.
/// \pre  no part is longer than `longest_message`
void exchange_bytes(const Communicator& comm, std::span<const std::span<const std::byte>> to_send,
                    std::span<const std::span<std::byte>> received);

/// `data` of `root` on every rank.
template <class T>
  requires std::is_trivially_copyable_v<T>
void broadcast(const Communicator& comm, std::span<T> data, int root) {
  broadcast_bytes(comm, std::as_writable_bytes(data), root);
}

/// data[i] ← data[i] of rank 0 op … op data[i] of rank P - 1.
template <class T>
  requires is_arithmetic<T>
void all_reduce(const Communicator& comm, std::span<T> data, Operation operation) {
  all_reduce_bytes(comm, std::as_writable_bytes(data), reduction<T>(operation));
}
template <class T, std::size_t Count>
  requires is_arithmetic<T>
void all_reduce(const Communicator& comm, std::array<T, Count>& data, Operation operation) {
  all_reduce(comm, std::span<T>(data), operation);
}
template <class T>
  requires is_arithmetic<T>
[[nodiscard]] T all_reduce(const Communicator& comm, T value, Operation operation) {
  all_reduce(comm, std::span<T>(&value, 1), operation);
  return value;
}

/// Calls `take`, which takes the memory that the ranks need for what they do next together: a rank that has none left
/// tells the others, who would wait for it otherwise. Where there is a context, `agreed` does the same, and also names
/// the rank. One all-reduce.
/// \throws OutOfMemory  on all ranks, where `take` threw std::bad_alloc on one
template <class Take>
void with_memory_on_all_ranks(const Communicator& comm, const Take& take) {
  Index has_memory = 1;
  try {
    take();
  } catch (const std::bad_alloc&) {
    has_memory = 0;
  }
  if (comm.size() > 1) has_memory = all_reduce(comm, has_memory, Operation::minimum());
  if (has_memory == 0) throw OutOfMemory("a rank is out of memory");
}

/// One value of every rank, in the order of ranks.
/// \throws OutOfMemory  on all ranks, where one has no room for them
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> all_gather(const Communicator& comm, const T& own) {
  std::vector<T> all;
  with_memory_on_all_ranks(comm, [&] { all.resize(static_cast<std::size_t>(comm.size())); });
  all_gather_bytes(comm, std::as_bytes(std::span<const T>(&own, 1)), std::as_writable_bytes(std::span<T>(all)));
  return all;
}

/// The sum over the ranks below this one: 0 on rank 0.
template <class T>
  requires is_arithmetic<T>
[[nodiscard]] T sum_below(const Communicator& comm, T value) {
  prefix_reduce_bytes(comm, std::as_writable_bytes(std::span<T>(&value, 1)), reduction<T>(Operation::sum()));
  return comm.rank() == 0 ? T{} : value;
}

/// `counts[r]` elements to each rank r, lying one behind the other in `data`; returns what came, in the order of ranks.
/// `received_counts`, if given, becomes the number that came from each rank.
/// \throws OutOfMemory  on all ranks, where one has no room for what comes
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> all_to_all(const Communicator& comm, std::span<const T> data,
                                        std::span<const Index> counts, std::vector<Index>* received_counts = nullptr) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  PLAIT_ASSERT(counts.size() == ranks, "there is a count for every rank");
  std::vector<Index> incoming;
  std::vector<Index> one;
  std::vector<Index> send_bytes;
  std::vector<Index> receive_bytes;
  with_memory_on_all_ranks(comm, [&] {
    one.resize(ranks, Index{sizeof(Index)});
    for (std::vector<Index>* other : {&incoming, &send_bytes, &receive_bytes}) other->resize(ranks);
  });
  all_to_all_bytes(comm, std::as_bytes(counts), one, std::as_writable_bytes(std::span<Index>(incoming)), one);

  Index total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    send_bytes[r] = counts[r] * Index{sizeof(T)};
    receive_bytes[r] = incoming[r] * Index{sizeof(T)};
    total += incoming[r];
  }
  std::vector<T> received;
  with_memory_on_all_ranks(comm, [&] { received.resize(static_cast<std::size_t>(total)); });
  all_to_all_bytes(comm, std::as_bytes(data), send_bytes, std::as_writable_bytes(std::span<T>(received)),
                   receive_bytes);
  if (received_counts != nullptr) *received_counts = std::move(incoming);
  return received;
}

/// The elements of all ranks, in the order of ranks, on rank 0; none on the others.
/// \throws OutOfMemory  on all ranks, where rank 0 has no room for them
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> gather(const Communicator& comm, std::span<const T> own) {
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()));
  counts[0] = static_cast<Index>(own.size());
  return all_to_all(comm, own, counts);
}

/// The same on all ranks.
/// \throws OutOfMemory  on all ranks, where one has no room for them
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> gather_on_all(const Communicator& comm, std::span<const T> own) {
  std::vector<T> all = gather(comm, own);
  auto count = static_cast<Index>(all.size());
  broadcast(comm, std::span<Index>(&count, 1), 0);
  with_memory_on_all_ranks(comm, [&] { all.resize(static_cast<std::size_t>(count)); });
  broadcast(comm, std::span<T>(all), 0);
  return all;
}

}  // namespace plait::mpi
