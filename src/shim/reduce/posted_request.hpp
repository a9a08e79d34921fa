#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "plait/collective/node/posted_reductions.hpp"

namespace plait::shim::reduce {

/// Whether a request of this process's MPI can be completed by what plait does: MPICH asks whoever made a request when
/// it is tested or waited for, Open MPI asks plait in whatever call makes progress. Local: see who else can.
[[nodiscard]] bool can_make_requests() noexcept;

/// The request of a posted reduction, for the program to wait for or to test as any other one.
/// \return  MPI's code
/// \pre  can_make_requests()
[[nodiscard]] int make_request(std::unique_ptr<collective::node::PostedReductions::Running> running,
                               MPI_Request* request);

/// Whether such a request can also be one that a program starts again and again, which takes one of MPI's own. Only
/// Open MPI lets others make them.
[[nodiscard]] bool can_make_persistent_requests() noexcept;

/// An inactive persistent request; each start of it begins a reduction by `begin`, which may throw std::bad_alloc.
/// \return  MPI's code
/// \pre  can_make_persistent_requests()
[[nodiscard]] int make_persistent_request(
    std::function<std::unique_ptr<collective::node::PostedReductions::Running>()> begin, MPI_Request* request);

/// Does some work of what was posted, and completes the requests of what is done. Local; any thread may call.
/// \return  how many of them moved
int advance_posted() noexcept;

}  // namespace plait::shim::reduce
