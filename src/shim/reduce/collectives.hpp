#pragma once

#include <mpi.h>

#include <optional>

#include "plait/base/index.hpp"

#include "shim/reduce/log.hpp"

namespace plait::shim::reduce {

// MPI's collective reductions of one rank, or among the ranks of one node, by plait's own algorithms where those are
// faster than MPI. Whether they serve a call depends only on what is the same on all ranks of the communicator;
// arguments are MPI's.
//
// Each returns MPI's code, or nothing, with nothing done, where the call is MPI's.

[[nodiscard]] std::optional<int> allreduce(const void* send, void* receive, Index count, MPI_Datatype type,
                                           MPI_Op operation, MPI_Comm comm) noexcept;
[[nodiscard]] std::optional<int> reduce(const void* send, void* receive, Index count, MPI_Datatype type,
                                        MPI_Op operation, int root, MPI_Comm comm) noexcept;
[[nodiscard]] std::optional<int> reduce_scatter_block(const void* send, void* receive, Index count, MPI_Datatype type,
                                                      MPI_Op operation, MPI_Comm comm) noexcept;

/// \tparam Count  int or MPI_Count
template <class Count>
[[nodiscard]] std::optional<int> reduce_scatter(const void* send, void* receive, const Count* counts, MPI_Datatype type,
                                                MPI_Op operation, MPI_Comm comm) noexcept;

[[nodiscard]] std::optional<int> scan(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation,
                                      MPI_Comm comm) noexcept;
[[nodiscard]] std::optional<int> exscan(const void* send, void* receive, Index count, MPI_Datatype type,
                                        MPI_Op operation, MPI_Comm comm) noexcept;

/// When a non-blocking reduction begins: in the call, or whenever its persistent request is started.
enum class Begin : unsigned char { at_once, at_each_start };

// The non-blocking ones, among the ranks of one node: what a beginning costs is a copy of the operand, and `request` is
// one of MPI's own.

[[nodiscard]] std::optional<int> iallreduce(const void* send, void* receive, Index count, MPI_Datatype type,
                                            MPI_Op operation, MPI_Comm comm, MPI_Request* request,
                                            Begin when = Begin::at_once) noexcept;
[[nodiscard]] std::optional<int> ireduce(const void* send, void* receive, Index count, MPI_Datatype type,
                                         MPI_Op operation, int root, MPI_Comm comm, MPI_Request* request,
                                         Begin when = Begin::at_once) noexcept;
[[nodiscard]] std::optional<int> ireduce_scatter_block(const void* send, void* receive, Index count, MPI_Datatype type,
                                                       MPI_Op operation, MPI_Comm comm, MPI_Request* request,
                                                       Begin when = Begin::at_once) noexcept;
/// \tparam Count  int or MPI_Count
template <class Count>
[[nodiscard]] std::optional<int> ireduce_scatter(const void* send, void* receive, const Count* counts,
                                                 MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                                                 MPI_Request* request, Begin when = Begin::at_once) noexcept;
[[nodiscard]] std::optional<int> iscan(const void* send, void* receive, Index count, MPI_Datatype type,
                                       MPI_Op operation, MPI_Comm comm, MPI_Request* request,
                                       Begin when = Begin::at_once) noexcept;
[[nodiscard]] std::optional<int> iexscan(const void* send, void* receive, Index count, MPI_Datatype type,
                                         MPI_Op operation, MPI_Comm comm, MPI_Request* request,
                                         Begin when = Begin::at_once) noexcept;

}  // namespace plait::shim::reduce
