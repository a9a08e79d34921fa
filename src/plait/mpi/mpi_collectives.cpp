#include "plait/mpi/mpi_collectives.hpp"

#include <algorithm>
#include <limits>

#include "plait/base/contract.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

// Calls f(first byte, bytes) for as few pieces as have their elements (bytes, for a broadcast) counted by an int.
template <class F>
void in_countable_pieces(std::size_t bytes, Index element_bytes, F f) {
  const auto most = static_cast<std::size_t>(std::numeric_limits<int>::max() / element_bytes * element_bytes);
  for (std::size_t first = 0; first < bytes; first += most) f(first, std::min(most, bytes - first));
}

int count_of(std::size_t bytes, Index element_bytes) {
  const Index count = static_cast<Index>(bytes) / element_bytes;
  PLAIT_ASSERT(count <= std::numeric_limits<int>::max(), "an int can count the elements");
  return static_cast<int>(count);
}

}  // namespace

void blocking_broadcast(const Communicator& comm, std::span<std::byte> data, Index element_bytes, int root) {
  in_countable_pieces(data.size(), element_bytes, [&](std::size_t first, std::size_t bytes) {
    check(MPI_Bcast(data.data() + first, static_cast<int>(bytes), MPI_BYTE, root, comm.handle()), "MPI_Bcast");
  });
}

// MPICH looks at the result's place on all ranks of a node.
void blocking_reduce(const Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                     const Reduction& reduction, int root) {
  PLAIT_ASSERT(out.size() == in.size(), "the result is as long as the operands");
  in_countable_pieces(in.size(), reduction.element_bytes, [&](std::size_t first, std::size_t bytes) {
    const auto count = static_cast<int>(static_cast<Index>(bytes) / reduction.element_bytes);
    check(MPI_Reduce(in.data() + first, out.data() + first, count, reduction.type, reduction.operation, root,
                     comm.handle()),
          "MPI_Reduce");
  });
}

void blocking_all_reduce(const Communicator& comm, std::span<std::byte> data, const Reduction& reduction) {
  in_countable_pieces(data.size(), reduction.element_bytes, [&](std::size_t first, std::size_t bytes) {
    const auto count = static_cast<int>(static_cast<Index>(bytes) / reduction.element_bytes);
    check(MPI_Allreduce(MPI_IN_PLACE, data.data() + first, count, reduction.type, reduction.operation, comm.handle()),
          "MPI_Allreduce");
  });
}

Request start_broadcast(const Communicator& comm, std::span<std::byte> data, int root) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(data.data(), count_of(data.size(), 1), MPI_BYTE, root, comm.handle(), &request), "MPI_Ibcast");
  return Request(request);
}

Request start_reduce(const Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                     const Reduction& reduction, int root) {
  const bool in_place = comm.rank() == root && in.data() == out.data();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ireduce(in_place ? MPI_IN_PLACE : in.data(), comm.rank() == root ? out.data() : nullptr,
                    count_of(in.size(), reduction.element_bytes), reduction.type, reduction.operation, root,
                    comm.handle(), &request),
        "MPI_Ireduce");
  return Request(request);
}

Request start_all_reduce(const Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                         const Reduction& reduction) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(in.data() == out.data() ? MPI_IN_PLACE : in.data(), out.data(),
                       count_of(in.size(), reduction.element_bytes), reduction.type, reduction.operation, comm.handle(),
                       &request),
        "MPI_Iallreduce");
  return Request(request);
}

}  // namespace plait::mpi
