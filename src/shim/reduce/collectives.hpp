#pragma once

#include <mpi.h>

#include <optional>

#include "plait/base/index.hpp"

#include "shim/reduce/log.hpp"

namespace plait::shim::reduce {

/// A call of the program: the arguments that MPI's reductions have in common, and those that some have.
struct Call {
  const void* send;
  void* receive;
  MPI_Datatype type;
  MPI_Op operation;
  MPI_Comm comm;
  int root = 0;
  MPI_Request* request = nullptr;
};

/// MPI's collective reductions of one rank, or among the ranks of one node, by plait's own algorithms where those are
/// faster than MPI. Whether they serve a call depends only on what is the same on all ranks of the communicator. What
/// the beginning of a non-blocking one costs is a copy of the operand; its request is one of MPI's own.
///
/// \param counts  one, or for reduce_scatter one for each rank
/// \tparam Count  int or MPI_Count
/// \return        MPI's code, or nothing, with nothing done, where the call is MPI's
template <class Count>
[[nodiscard]] std::optional<int> reduced(Kind kind, Begin begin, const Count* counts, const Call& call) noexcept;

/// MPI_Reduce_local by plait's kernels.
/// \return  false, with nothing done, where the call is MPI's
[[nodiscard]] bool reduced_locally(const void* in, void* inout, Index count, MPI_Datatype type,
                                   MPI_Op operation) noexcept;

}  // namespace plait::shim::reduce
