#include "plait/mpi/collectives.hpp"

#include <numeric>

#include "plait/mpi/environment.hpp"
#include "plait/mpi/error.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/request.hpp"

namespace plait::mpi {

namespace {

constexpr int exchange_tag = 0;

// Whether collectives block rather than poll: SimGrid's non-blocking ones send as many messages as there are pairs of
// ranks, which takes minutes among thousands.
constexpr bool blocks = is_simulated;

// Applies `f` to consecutive pieces of `data` of at most `longest_message` bytes, whole elements each.
template <class F>
void in_pieces(std::span<std::byte> data, Index element_bytes, F f) {
  const auto most = static_cast<std::size_t>(longest_message / element_bytes * element_bytes);
  while (!data.empty()) {
    const auto piece = data.first(std::min(data.size(), most));
    f(piece);
    data = data.subspan(piece.size());
  }
}

[[maybe_unused]] std::size_t sum_of(std::span<const Index> counts) {
  return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Index{0}));
}

int elements(std::span<const std::byte> piece, const Reduction& reduction) {
  return static_cast<int>(static_cast<Index>(piece.size()) / reduction.element_bytes);
}

}  // namespace

void barrier(const Communicator& comm) {
  if constexpr (blocks) return check(MPI_Barrier(comm.handle()), "MPI_Barrier");
  start_barrier(comm).wait();
}

Request start_barrier(const Communicator& comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(comm.handle(), &request), "MPI_Ibarrier");
  return Request(request);
}

void broadcast_bytes(const Communicator& comm, std::span<std::byte> data, int root) {
  in_pieces(data, 1, [&](std::span<std::byte> piece) {
    const auto count = static_cast<int>(piece.size());
    if constexpr (blocks) return check(MPI_Bcast(piece.data(), count, MPI_BYTE, root, comm.handle()), "MPI_Bcast");
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(piece.data(), count, MPI_BYTE, root, comm.handle(), &request), "MPI_Ibcast");
    Request(request).wait();
  });
}

void all_reduce_bytes(const Communicator& comm, std::span<std::byte> data, const Reduction& reduction) {
  if (compares_unsigned(reduction)) {
    flip_highest_bits(data, reduction.element_bytes);
    all_reduce_bytes(comm, data, {reduction.operation, signed_type(reduction.element_bytes), reduction.element_bytes});
    flip_highest_bits(data, reduction.element_bytes);
    return;
  }
  in_pieces(data, reduction.element_bytes, [&](std::span<std::byte> piece) {
    const int count = elements(piece, reduction);
    if constexpr (blocks) {
      return check(MPI_Allreduce(MPI_IN_PLACE, piece.data(), count, reduction.type, reduction.operation, comm.handle()),
                   "MPI_Allreduce");
    }
    MPI_Request request = MPI_REQUEST_NULL;
    check(
        MPI_Iallreduce(MPI_IN_PLACE, piece.data(), count, reduction.type, reduction.operation, comm.handle(), &request),
        "MPI_Iallreduce");
    Request(request).wait();
  });
}

void prefix_reduce_bytes(const Communicator& comm, std::span<std::byte> data, const Reduction& reduction) {
  in_pieces(data, reduction.element_bytes, [&](std::span<std::byte> piece) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iexscan(MPI_IN_PLACE, piece.data(), elements(piece, reduction), reduction.type, reduction.operation,
                      comm.handle(), &request),
          "MPI_Iexscan");
    Request(request).wait();
  });
}

Request start_all_gather_bytes(const Communicator& comm, std::span<const std::byte> own, std::span<std::byte> all) {
  PLAIT_ASSERT(all.size() == own.size() * static_cast<std::size_t>(comm.size()), "there is room for every rank's part");
  PLAIT_ASSERT(static_cast<Index>(own.size()) <= longest_message, "only control data is gathered everywhere");
  MPI_Request request = MPI_REQUEST_NULL;
  const auto count = static_cast<int>(own.size());
  check(MPI_Iallgather(own.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm.handle(), &request),
        "MPI_Iallgather");
  return Request(request);
}

void all_gather_bytes(const Communicator& comm, std::span<const std::byte> own, std::span<std::byte> all) {
  if constexpr (blocks) {
    const auto count = static_cast<int>(own.size());
    return check(MPI_Allgather(own.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm.handle()),
                 "MPI_Allgather");
  }
  start_all_gather_bytes(comm, own, all).wait();
}

// Pairwise, rank + 1 first, one partner at a time in each direction: counts are 64-bit and memory beyond the operands
// is none. Every rank walks the distances in the same order, so the lowest unfinished distance is always posted at both
// ends.
void all_to_all_bytes(const Communicator& comm, std::span<const std::byte> to_send, std::span<const Index> send_bytes,
                      std::span<std::byte> received, std::span<const Index> receive_bytes) {
  const int ranks = comm.size();
  PLAIT_ASSERT(to_send.size() == sum_of(send_bytes) && received.size() == sum_of(receive_bytes), "the counts add up");
  const auto own = static_cast<std::size_t>(comm.rank());
  std::size_t send_at = sum_of(send_bytes.first(own));
  std::size_t receive_at = sum_of(receive_bytes.first(own));
  for (int distance = 0; distance < ranks; ++distance) {
    const auto to = static_cast<std::size_t>((comm.rank() + distance) % ranks);
    const auto from = static_cast<std::size_t>((comm.rank() + ranks - distance) % ranks);
    auto out = to_send.subspan(send_at, static_cast<std::size_t>(send_bytes[to]));
    auto in = received.subspan(receive_at, static_cast<std::size_t>(receive_bytes[from]));
    send_at = to + 1 == send_bytes.size() ? 0 : send_at + out.size();
    receive_at = (from == 0 ? received.size() : receive_at) -
                 static_cast<std::size_t>(receive_bytes[from == 0 ? receive_bytes.size() - 1 : from - 1]);
    if (distance == 0) {
      std::copy(out.begin(), out.end(), in.begin());
      continue;
    }
    while (!out.empty() || !in.empty()) {
      const auto out_piece = out.first(std::min(out.size(), static_cast<std::size_t>(longest_message)));
      const auto in_piece = in.first(std::min(in.size(), static_cast<std::size_t>(longest_message)));
      Request receiving;
      Request sending;
      if (!in_piece.empty()) receiving = start_receive(comm, in_piece, static_cast<int>(from), exchange_tag);
      if (!out_piece.empty()) sending = start_send(comm, out_piece, static_cast<int>(to), exchange_tag);
      receiving.wait();
      sending.wait();
      out = out.subspan(out_piece.size());
      in = in.subspan(in_piece.size());
    }
  }
}

// Receives first, so that what comes finds its place.
void exchange_bytes(const Communicator& comm, std::span<const std::span<const std::byte>> to_send,
                    std::span<const std::span<std::byte>> received) {
  const int ranks = comm.size();
  std::vector<Request> requests;
  requests.reserve(2 * static_cast<std::size_t>(ranks));
  for (int distance = 1; distance < ranks; ++distance) {
    const int from = (comm.rank() + ranks - distance) % ranks;
    const auto part = received[static_cast<std::size_t>(from)];
    PLAIT_ASSERT(static_cast<Index>(part.size()) <= longest_message, "a part is one message");
    if (!part.empty()) requests.push_back(start_receive(comm, part, from, exchange_tag));
  }
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (comm.rank() + distance) % ranks;
    const auto part = to_send[static_cast<std::size_t>(to)];
    if (!part.empty()) requests.push_back(start_send(comm, part, to, exchange_tag));
  }
  wait_all(requests);
}

}  // namespace plait::mpi
