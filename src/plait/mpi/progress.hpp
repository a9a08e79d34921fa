#pragma once

#include "plait/mpi/communicator.hpp"

namespace plait::mpi {

/// Lets MPI move along what is under way in this process, on whatever communicator: for a rank that waits for something
/// that MPI knows nothing of, while another may wait for a message of this one. Local; returns at once.
void progress(const Communicator& comm) noexcept;

}  // namespace plait::mpi
