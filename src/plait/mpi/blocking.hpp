#pragma once

#include <cstddef>
#include <span>

#include "plait/mpi/communicator.hpp"
#include "plait/mpi/reduction.hpp"

/// MPI's own blocking collectives on payload, for those who compare with what programs commonly call. They wait as the
/// MPI library likes to. All are collective over `comm`; any number of elements.
///
/// \throws MpiError
namespace plait::mpi {

/// `data` of `root` on every rank, by MPI_Bcast.
void blocking_broadcast(const Communicator& comm, std::span<std::byte> data, Index element_bytes, int root);

/// out of `root` ← in of all ranks combined, by MPI_Reduce.
/// \pre  `out` is as long as `in` on every rank, and they do not overlap
void blocking_reduce(const Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                     const Reduction& reduction, int root);

/// data of all ranks ← data of all ranks combined, in place, by MPI_Allreduce.
void blocking_all_reduce(const Communicator& comm, std::span<std::byte> data, const Reduction& reduction);

}  // namespace plait::mpi
