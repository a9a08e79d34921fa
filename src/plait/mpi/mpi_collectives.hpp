#pragma once

#include <cstddef>
#include <span>

#include "plait/mpi/communicator.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/mpi/request.hpp"

/// MPI's own collectives on payload, for those who compare with what programs commonly call, or whose network carries
/// them out by itself. All are collective over `comm`, in the same order on its ranks.
///
/// \throws MpiError
namespace plait::mpi {

// Blocking: any number of elements. They wait as the MPI library likes to.

/// `data` of `root` on every rank, by MPI_Bcast.
void blocking_broadcast(const Communicator& comm, std::span<std::byte> data, Index element_bytes, int root);

/// out of `root` ← in of all ranks combined, by MPI_Reduce.
/// \pre  `out` is as long as `in` on every rank, and they do not overlap
void blocking_reduce(const Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                     const Reduction& reduction, int root);

/// data of all ranks ← data of all ranks combined, in place, by MPI_Allreduce.
void blocking_all_reduce(const Communicator& comm, std::span<std::byte> data, const Reduction& reduction);

// Non-blocking: the memory is in use until the request ends.
// \pre  as many elements, or bytes, as an int can count

[[nodiscard]] Request start_broadcast(const Communicator& comm, std::span<std::byte> data, int root);
/// out of `root` ← in of all ranks combined; `out` of others is not looked at. `in` may be `out`.
[[nodiscard]] Request start_reduce(const Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                                   const Reduction& reduction, int root);
[[nodiscard]] Request start_all_reduce(const Communicator& comm, std::span<const std::byte> in,
                                       std::span<std::byte> out, const Reduction& reduction);

}  // namespace plait::mpi
