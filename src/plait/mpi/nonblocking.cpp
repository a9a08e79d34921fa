#include "plait/mpi/nonblocking.hpp"

#include <limits>

#include "plait/base/contract.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

int count_of(std::size_t bytes, Index element_bytes) {
  const Index count = static_cast<Index>(bytes) / element_bytes;
  PLAIT_ASSERT(count <= std::numeric_limits<int>::max(), "an int can count the elements");
  return static_cast<int>(count);
}

}  // namespace

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
