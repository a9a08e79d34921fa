#pragma once

#include <new>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/communicator.hpp"

namespace plait::mpi {

/// Calls `take`, which takes the memory that the ranks need for what they do next together: a rank that has none left
/// tells the others, who would wait for it otherwise. Collective over `comm`; one all-reduce.
/// \throws OutOfMemory  on all ranks, where `take` threw std::bad_alloc on one
template <class Take>
void with_memory_on_all_ranks(const Communicator& comm, const Take& take) {
  Index has_memory = 1;
  try {
    take();
  } catch (const std::bad_alloc&) {
    has_memory = 0;
  }
  if (all_reduce(comm, has_memory, Operation::minimum()) == 0) throw OutOfMemory("a rank of the node is out of memory");
}

}  // namespace plait::mpi
