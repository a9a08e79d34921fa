#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>

#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/request.hpp"

namespace plait::mpi {

/// The most bytes that one message of a long transfer carries: larger ones are slower on both MPIs.
inline constexpr Index longest_message = Index{64} << 20;

/// About the longest message that keeps both directions of a link between nodes busy at once: one that the MPI sends
/// without asking. A sender of longer ones waits for an answer that on a TCP connection stands behind the receiver's
/// own data. Over TCP Open MPI sends up to 64 KiB without asking, MPICH (UCX) up to about 20 KB. (Seen on links of 1
/// Gb/s between nodes that exchange: messages of 32 KB to 1 MiB reach 0.7 to 0.85 of the rate with MPICH, these 0.94.)
#ifdef OPEN_MPI
inline constexpr Index network_message = 60000;
#else
inline constexpr Index network_message = 16000;
#endif

/// Starts one message of any length (above 2^31 - 1 bytes by a derived type). Sender and receiver name the same length.
[[nodiscard]] Request start_send(const Communicator& comm, std::span<const std::byte> bytes, int to, int tag);
[[nodiscard]] Request start_receive(const Communicator& comm, std::span<std::byte> bytes, int from, int tag);

/// A message that has come, and is still to be received.
struct Arrival {
  int from;
  bool is_empty;
};
/// The first one with that tag, from whomever. Local; returns at once.
[[nodiscard]] std::optional<Arrival> probe(const Communicator& comm, int tag);

/// Sends (receives) any number of elements, cut into messages of `longest_message`; returns when the memory is free
/// again (filled). Both sides name the same count.
template <class T>
  requires std::is_trivially_copyable_v<T>
void send(const Communicator& comm, std::span<const T> data, int to, int tag);
template <class T>
  requires std::is_trivially_copyable_v<T>
void receive(const Communicator& comm, std::span<T> data, int from, int tag);

void send_bytes(const Communicator& comm, std::span<const std::byte> bytes, int to, int tag);
void receive_bytes(const Communicator& comm, std::span<std::byte> bytes, int from, int tag);

template <class T>
  requires std::is_trivially_copyable_v<T>
void send(const Communicator& comm, std::span<const T> data, int to, int tag) {
  send_bytes(comm, std::as_bytes(data), to, tag);
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void receive(const Communicator& comm, std::span<T> data, int from, int tag) {
  receive_bytes(comm, std::as_writable_bytes(data), from, tag);
}

/// Lets MPI move along what is under way in this process, on whatever communicator: for a rank that waits for something
/// that MPI knows nothing of, while another may wait for a message of this one. Local; returns at once.
void progress(const Communicator& comm) noexcept;

}  // namespace plait::mpi
