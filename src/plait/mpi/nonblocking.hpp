#pragma once

#include <cstddef>
#include <span>

#include "plait/mpi/communicator.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/mpi/request.hpp"

/// MPI's own non-blocking collectives on payload, for those who compare with them or whose network carries them out by
/// itself. All are collective over `comm`, in the same order on its ranks; the memory is in use until the request ends.
///
/// \pre  as many elements, or bytes, as an int can count
/// \throws MpiError
namespace plait::mpi {

[[nodiscard]] Request start_broadcast(const Communicator& comm, std::span<std::byte> data, int root);
/// out of `root` ← in of all ranks combined; `out` of others is not looked at. `in` may be `out`.
[[nodiscard]] Request start_reduce(const Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out,
                                   const Reduction& reduction, int root);
[[nodiscard]] Request start_all_reduce(const Communicator& comm, std::span<const std::byte> in,
                                       std::span<std::byte> out, const Reduction& reduction);

}  // namespace plait::mpi
