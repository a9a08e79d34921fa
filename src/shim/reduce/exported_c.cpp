// The intercepted routines under their C names, which MPICH's Fortran layer calls as well. What is not served goes on
// to MPI by its profiling names, so that MPI's checks of arguments and its error handlers are the program's as before.
#include <dlfcn.h>

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "shim/reduce/collectives.hpp"
#include "shim/reduce/fortran_layer.hpp"
#include "shim/reduce/local.hpp"
#include "shim/reduce/log.hpp"
#include "shim/reduce/node_group.hpp"
#include "shim/reduce/posted_request.hpp"
#include "shim/reduce/running.hpp"

using plait::shim::reduce::Begin;
using plait::shim::reduce::Log;

// NOLINTBEGIN(readability-identifier-naming): MPI's names

// What only tells plait something goes on to whoever intercepts it next, such as a profiler.
namespace {
template <class Function>
Function* next(const char* name, Function* of_mpi) {
  void* const found = dlsym(RTLD_NEXT, name);
  return found == nullptr ? of_mpi : reinterpret_cast<Function*>(found);
}
}  // namespace

extern "C" int MPI_Init(int* argc, char*** argv) {
  const int code = next("MPI_Init", PMPI_Init)(argc, argv);
  plait::shim::reduce::start_serving();
  return code;
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = next("MPI_Init_thread", PMPI_Init_thread)(argc, argv, required, provided);
  plait::shim::reduce::start_serving();
  return code;
}

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  const int code = next("MPI_Comm_free", PMPI_Comm_free)(comm);
  plait::shim::reduce::NodeGroup::forget_freed();
  return code;
}

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  const int code = next("MPI_Comm_disconnect", PMPI_Comm_disconnect)(comm);
  plait::shim::reduce::NodeGroup::forget_freed();
  return code;
}

extern "C" int MPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  if (plait::shim::reduce::reduce_local(in, inout, count, type, op)) return MPI_SUCCESS;
  return PMPI_Reduce_local(in, inout, count, type, op);
}

extern "C" int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::allreduce(send, receive, count, type, op, comm)) return *code;
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

extern "C" int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::reduce(send, receive, count, type, op, root, comm)) return *code;
  return PMPI_Reduce(send, receive, count, type, op, root, comm);
}

extern "C" int MPI_Reduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::reduce_scatter(send, receive, counts, type, op, comm)) return *code;
  return PMPI_Reduce_scatter(send, receive, counts, type, op, comm);
}

extern "C" int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::reduce_scatter_block(send, receive, count, type, op, comm)) return *code;
  return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm);
}

extern "C" int MPI_Scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::scan(send, receive, count, type, op, comm)) return *code;
  return PMPI_Scan(send, receive, count, type, op, comm);
}

extern "C" int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::exscan(send, receive, count, type, op, comm)) return *code;
  return PMPI_Exscan(send, receive, count, type, op, comm);
}

extern "C" int MPI_Ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                           MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce(send, receive, count, type, op, root, comm, request)) return *code;
  return PMPI_Ireduce(send, receive, count, type, op, root, comm, request);
}

extern "C" int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iallreduce(send, receive, count, type, op, comm, request)) return *code;
  return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Ireduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce_scatter(send, receive, counts, type, op, comm, request))
    return *code;
  return PMPI_Ireduce_scatter(send, receive, counts, type, op, comm, request);
}

extern "C" int MPI_Ireduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                         MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce_scatter_block(send, receive, count, type, op, comm, request))
    return *code;
  return PMPI_Ireduce_scatter_block(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Iscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iscan(send, receive, count, type, op, comm, request)) return *code;
  return PMPI_Iscan(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Iexscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iexscan(send, receive, count, type, op, comm, request)) return *code;
  return PMPI_Iexscan(send, receive, count, type, op, comm, request);
}

// Persistent ones, which Open MPI had before the standard.
// NOLINTBEGIN(cppcoreguidelines-macro-usage): names are made of pieces
#if MPI_VERSION >= 4
#define PLAIT_PERSISTENT(name) MPI_##name##_init
#define PLAIT_PERSISTENT_OF_MPI(name) PMPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PLAIT_PERSISTENT(name) MPIX_##name##_init
#define PLAIT_PERSISTENT_OF_MPI(name) PMPIX_##name##_init
#endif
// NOLINTEND(cppcoreguidelines-macro-usage)

#if defined(PLAIT_PERSISTENT)

extern "C" int PLAIT_PERSISTENT(Reduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                        int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::ireduce(send, receive, count, type, op, root, comm, request, Begin::at_each_start))
    return *code;
  return PLAIT_PERSISTENT_OF_MPI(Reduce)(send, receive, count, type, op, root, comm, info, request);
}

extern "C" int PLAIT_PERSISTENT(Allreduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                           MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::iallreduce(send, receive, count, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PLAIT_PERSISTENT_OF_MPI(Allreduce)(send, receive, count, type, op, comm, info, request);
}

extern "C" int PLAIT_PERSISTENT(Reduce_scatter)(const void* send, void* receive, const int* counts, MPI_Datatype type,
                                                MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::ireduce_scatter(send, receive, counts, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PLAIT_PERSISTENT_OF_MPI(Reduce_scatter)(send, receive, counts, type, op, comm, info, request);
}

extern "C" int PLAIT_PERSISTENT(Reduce_scatter_block)(const void* send, void* receive, int count, MPI_Datatype type,
                                                      MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce_scatter_block(send, receive, count, type, op, comm, request,
                                                                   Begin::at_each_start))
    return *code;
  return PLAIT_PERSISTENT_OF_MPI(Reduce_scatter_block)(send, receive, count, type, op, comm, info, request);
}

extern "C" int PLAIT_PERSISTENT(Scan)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iscan(send, receive, count, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PLAIT_PERSISTENT_OF_MPI(Scan)(send, receive, count, type, op, comm, info, request);
}

extern "C" int PLAIT_PERSISTENT(Exscan)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::iexscan(send, receive, count, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PLAIT_PERSISTENT_OF_MPI(Exscan)(send, receive, count, type, op, comm, info, request);
}

#endif
#undef PLAIT_PERSISTENT
#undef PLAIT_PERSISTENT_OF_MPI

// Behind it all ranks are there, so that what reducing needs may be made.
extern "C" int MPI_Barrier(MPI_Comm comm) {
  static auto* const of_next = next("MPI_Barrier", PMPI_Barrier);
  const int code = of_next(comm);
  if (code == MPI_SUCCESS && plait::shim::reduce::mpi_is_running()) plait::shim::reduce::NodeGroup::met(comm);
  return code;
}

extern "C" int MPI_Finalize() {
  plait::shim::reduce::stop_serving();
  return next("MPI_Finalize", PMPI_Finalize)();
}

#if defined(MPICH_VERSION)
// The one question about a request in which MPICH does not ask who made it.
extern "C" int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  plait::shim::reduce::advance_posted();
  static auto* const of_next = next("MPI_Request_get_status", PMPI_Request_get_status);
  return of_next(request, flag, status);
}

// Its module mpi_f08 calls the profiling names of routines without buffers.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" void mpi_request_get_status_f08_(void* request, void* flag, void* status, MPI_Fint* error) {
  plait::shim::reduce::advance_posted();
  static auto* const of_next = reinterpret_cast<void (*)(void*, void*, void*, MPI_Fint*)>(
      plait::shim::reduce::next_or_of_mpi("mpi_request_get_status_f08_", "pmpir_request_get_status_f08_"));
  of_next(request, flag, status, error);
}

extern "C" void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  static auto* const of_next = reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*)>(
      plait::shim::reduce::next_or_of_mpi("mpi_barrier_f08_", "pmpir_barrier_f08_"));
  of_next(comm, error);
  if (plait::shim::reduce::mpi_is_running()) plait::shim::reduce::NodeGroup::met(PMPI_Comm_f2c(*comm));
}
// NOLINTEND(bugprone-reserved-identifier)
#endif

#if defined(OPEN_MPI)
extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* duplicate, MPI_Request* request) {
  plait::shim::reduce::NodeGroup::make_no_more();
  return next("MPI_Comm_idup", PMPI_Comm_idup)(comm, duplicate, request);
}
#endif

#if MPI_VERSION >= 4  // with counts of 64 bits

extern "C" int MPI_Reduce_local_c(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  if (plait::shim::reduce::reduce_local(in, inout, count, type, op)) return MPI_SUCCESS;
  return PMPI_Reduce_local_c(in, inout, count, type, op);
}

extern "C" int MPI_Allreduce_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::allreduce(send, receive, count, type, op, comm)) return *code;
  return PMPI_Allreduce_c(send, receive, count, type, op, comm);
}

extern "C" int MPI_Reduce_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                            MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::reduce(send, receive, count, type, op, root, comm)) return *code;
  return PMPI_Reduce_c(send, receive, count, type, op, root, comm);
}

extern "C" int MPI_Reduce_scatter_c(const void* send, void* receive, const MPI_Count* counts, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::reduce_scatter(send, receive, counts, type, op, comm)) return *code;
  return PMPI_Reduce_scatter_c(send, receive, counts, type, op, comm);
}

extern "C" int MPI_Reduce_scatter_block_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                                          MPI_Op op, MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::reduce_scatter_block(send, receive, count, type, op, comm)) return *code;
  return PMPI_Reduce_scatter_block_c(send, receive, count, type, op, comm);
}

extern "C" int MPI_Scan_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::scan(send, receive, count, type, op, comm)) return *code;
  return PMPI_Scan_c(send, receive, count, type, op, comm);
}

extern "C" int MPI_Exscan_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  if (const auto code = plait::shim::reduce::exscan(send, receive, count, type, op, comm)) return *code;
  return PMPI_Exscan_c(send, receive, count, type, op, comm);
}

extern "C" int MPI_Ireduce_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                             MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce(send, receive, count, type, op, root, comm, request)) return *code;
  return PMPI_Ireduce_c(send, receive, count, type, op, root, comm, request);
}

extern "C" int MPI_Iallreduce_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iallreduce(send, receive, count, type, op, comm, request)) return *code;
  return PMPI_Iallreduce_c(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Ireduce_scatter_c(const void* send, void* receive, const MPI_Count* counts, MPI_Datatype type,
                                     MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce_scatter(send, receive, counts, type, op, comm, request))
    return *code;
  return PMPI_Ireduce_scatter_c(send, receive, counts, type, op, comm, request);
}

extern "C" int MPI_Ireduce_scatter_block_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                                           MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce_scatter_block(send, receive, count, type, op, comm, request))
    return *code;
  return PMPI_Ireduce_scatter_block_c(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Iscan_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iscan(send, receive, count, type, op, comm, request)) return *code;
  return PMPI_Iscan_c(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Iexscan_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iexscan(send, receive, count, type, op, comm, request)) return *code;
  return PMPI_Iexscan_c(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Allreduce_init_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::iallreduce(send, receive, count, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PMPI_Allreduce_init_c(send, receive, count, type, op, comm, info, request);
}

extern "C" int MPI_Reduce_scatter_init_c(const void* send, void* receive, const MPI_Count* counts, MPI_Datatype type,
                                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::ireduce_scatter(send, receive, counts, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PMPI_Reduce_scatter_init_c(send, receive, counts, type, op, comm, info, request);
}

extern "C" int MPI_Reduce_scatter_block_init_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                                               MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::ireduce_scatter_block(send, receive, count, type, op, comm, request,
                                                                   Begin::at_each_start))
    return *code;
  return PMPI_Reduce_scatter_block_init_c(send, receive, count, type, op, comm, info, request);
}

extern "C" int MPI_Scan_init_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code = plait::shim::reduce::iscan(send, receive, count, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PMPI_Scan_init_c(send, receive, count, type, op, comm, info, request);
}

extern "C" int MPI_Exscan_init_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::iexscan(send, receive, count, type, op, comm, request, Begin::at_each_start))
    return *code;
  return PMPI_Exscan_init_c(send, receive, count, type, op, comm, info, request);
}

extern "C" int MPI_Reduce_init_c(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                 int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto code =
          plait::shim::reduce::ireduce(send, receive, count, type, op, root, comm, request, Begin::at_each_start))
    return *code;
  return PMPI_Reduce_init_c(send, receive, count, type, op, root, comm, info, request);
}

#endif

// NOLINTEND(readability-identifier-naming)

// See `teller_of_settings`.
extern "C" {
extern const int plait_tells_settings;  // NOLINT(readability-identifier-naming)
const int plait_tells_settings = 1;
}

// Here from the start, so that a summary is printed of programs that call nothing of this too.
namespace {
[[gnu::constructor]] void begin_log() { static_cast<void>(Log::of_program()); }
}  // namespace
