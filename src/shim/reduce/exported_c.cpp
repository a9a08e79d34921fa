// The intercepted routines under their C names, which MPICH's Fortran layer calls as well. What is not served goes on
// to MPI by its profiling names, so that MPI's checks of arguments and its error handlers are the program's as before.
#include <dlfcn.h>

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "shim/reduce/collectives.hpp"
#include "shim/reduce/fortran_layer.hpp"
#include "shim/reduce/log.hpp"
#include "shim/reduce/node_group.hpp"
#include "shim/reduce/posted_request.hpp"
#include "shim/reduce/running.hpp"

namespace reduce = plait::shim::reduce;

// NOLINTBEGIN(readability-identifier-naming): MPI's names

// What only tells plait something goes on to whoever intercepts it next, such as a profiler.
namespace {

template <class Function>
Function* next(const char* name, Function* of_mpi) {
  void* const found = dlsym(RTLD_NEXT, name);
  return found == nullptr ? of_mpi : reinterpret_cast<Function*>(found);
}

// One count, or those of all ranks.
template <class Count>
const Count* counts_at(const Count& count) {
  return &count;
}
template <class Count>
const Count* counts_at(const Count* counts) {
  return counts;
}

}  // namespace

extern "C" int MPI_Init(int* argc, char*** argv) {
  const int code = next("MPI_Init", PMPI_Init)(argc, argv);
  reduce::start_serving();
  return code;
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = next("MPI_Init_thread", PMPI_Init_thread)(argc, argv, required, provided);
  reduce::start_serving();
  return code;
}

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  const int code = next("MPI_Comm_free", PMPI_Comm_free)(comm);
  reduce::NodeGroup::forget_freed();
  return code;
}

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  const int code = next("MPI_Comm_disconnect", PMPI_Comm_disconnect)(comm);
  reduce::NodeGroup::forget_freed();
  return code;
}

// NOLINTBEGIN(bugprone-macro-parentheses,cppcoreguidelines-macro-usage): names are made of pieces

// What is different where one rank gets the result: `who` is all or one.
#define PLAIT_ROOT_PARAMETER_all
#define PLAIT_ROOT_PARAMETER_one int root,
#define PLAIT_ROOT_ARGUMENT_all
#define PLAIT_ROOT_ARGUMENT_one root,
#define PLAIT_ROOT_OF_all 0
#define PLAIT_ROOT_OF_one root
#define PLAIT_PARAMETERS(who, Count) \
  const void *send, void *receive, Count count, MPI_Datatype type, MPI_Op op, PLAIT_ROOT_PARAMETER_##who MPI_Comm comm
#define PLAIT_ARGUMENTS(who) send, receive, count, type, op, PLAIT_ROOT_ARGUMENT_##who comm

// MPI<name>, which plait may serve, and MPI itself otherwise.
#define PLAIT_SERVED(name, kind, begin, who, request, parameters, arguments)                             \
  extern "C" int MPI##name parameters {                                                                  \
    const reduce::Call call{send, receive, type, op, comm, PLAIT_ROOT_OF_##who, request};                \
    const auto code = reduce::reduced(reduce::Kind::kind, reduce::Begin::begin, counts_at(count), call); \
    return code ? *code : PMPI##name arguments;                                                          \
  }

// The blocking routine and the one that begins. With the suffix _c counts have 64 bits.
#define PLAIT_REDUCTION(Name, Iname, kind, suffix, who, Count)                                                       \
  PLAIT_SERVED(_##Name##suffix, kind, and_end, who, nullptr, (PLAIT_PARAMETERS(who, Count)), (PLAIT_ARGUMENTS(who))) \
  PLAIT_SERVED(_##Iname##suffix, kind, at_once, who, request, (PLAIT_PARAMETERS(who, Count), MPI_Request * request), \
               (PLAIT_ARGUMENTS(who), request))
#define PLAIT_PERSISTENT(name, kind, who, Count)                                     \
  PLAIT_SERVED(name, kind, at_each_start, who, request,                              \
               (PLAIT_PARAMETERS(who, Count), MPI_Info info, MPI_Request * request), \
               (PLAIT_ARGUMENTS(who), info, request))

#define PLAIT_REDUCE_LOCAL(suffix, Count)                                                                           \
  extern "C" int MPI_Reduce_local##suffix(const void* in, void* inout, Count count, MPI_Datatype type, MPI_Op op) { \
    if (reduce::reduced_locally(in, inout, count, type, op)) return MPI_SUCCESS;                                    \
    return PMPI_Reduce_local##suffix(in, inout, count, type, op);                                                   \
  }

#define PLAIT_REDUCTIONS(suffix, Count)                                                                  \
  PLAIT_REDUCE_LOCAL(suffix, Count)                                                                      \
  PLAIT_REDUCTION(Reduce, Ireduce, reduce, suffix, one, Count)                                           \
  PLAIT_REDUCTION(Allreduce, Iallreduce, allreduce, suffix, all, Count)                                  \
  PLAIT_REDUCTION(Reduce_scatter, Ireduce_scatter, reduce_scatter, suffix, all, const Count*)            \
  PLAIT_REDUCTION(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block, suffix, all, Count) \
  PLAIT_REDUCTION(Scan, Iscan, scan, suffix, all, Count)                                                 \
  PLAIT_REDUCTION(Exscan, Iexscan, exscan, suffix, all, Count)
#define PLAIT_PERSISTENT_REDUCTIONS(prefix, suffix, Count)                                 \
  PLAIT_PERSISTENT(prefix##Reduce##suffix, reduce, one, Count)                             \
  PLAIT_PERSISTENT(prefix##Allreduce##suffix, allreduce, all, Count)                       \
  PLAIT_PERSISTENT(prefix##Reduce_scatter##suffix, reduce_scatter, all, const Count*)      \
  PLAIT_PERSISTENT(prefix##Reduce_scatter_block##suffix, reduce_scatter_block, all, Count) \
  PLAIT_PERSISTENT(prefix##Scan##suffix, scan, all, Count)                                 \
  PLAIT_PERSISTENT(prefix##Exscan##suffix, exscan, all, Count)

PLAIT_REDUCTIONS(, int)
#if MPI_VERSION >= 4
PLAIT_REDUCTIONS(_c, MPI_Count)
PLAIT_PERSISTENT_REDUCTIONS(_, _init, int)
PLAIT_PERSISTENT_REDUCTIONS(_, _init_c, MPI_Count)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)  // Open MPI had them before the standard
PLAIT_PERSISTENT_REDUCTIONS(X_, _init, int)
#endif

#undef PLAIT_PERSISTENT_REDUCTIONS
#undef PLAIT_REDUCTIONS
#undef PLAIT_REDUCE_LOCAL
#undef PLAIT_PERSISTENT
#undef PLAIT_REDUCTION
#undef PLAIT_SERVED
#undef PLAIT_ARGUMENTS
#undef PLAIT_PARAMETERS
#undef PLAIT_ROOT_OF_one
#undef PLAIT_ROOT_OF_all
#undef PLAIT_ROOT_ARGUMENT_one
#undef PLAIT_ROOT_ARGUMENT_all
#undef PLAIT_ROOT_PARAMETER_one
#undef PLAIT_ROOT_PARAMETER_all
// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)

// Behind it all ranks are there, so that what reducing needs may be made.
extern "C" int MPI_Barrier(MPI_Comm comm) {
  static auto* const of_next = next("MPI_Barrier", PMPI_Barrier);
  const int code = of_next(comm);
  if (code == MPI_SUCCESS && reduce::mpi_is_running()) reduce::NodeGroup::met(comm);
  return code;
}

extern "C" int MPI_Finalize() {
  reduce::stop_serving();
  return next("MPI_Finalize", PMPI_Finalize)();
}

#if defined(MPICH_VERSION)
// The one question about a request in which MPICH does not ask who made it.
extern "C" int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  reduce::advance_posted();
  static auto* const of_next = next("MPI_Request_get_status", PMPI_Request_get_status);
  return of_next(request, flag, status);
}

// Its module mpi_f08 calls the profiling names of routines without buffers.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" void mpi_request_get_status_f08_(void* request, void* flag, void* status, MPI_Fint* error) {
  reduce::advance_posted();
  static auto* const of_next = reinterpret_cast<void (*)(void*, void*, void*, MPI_Fint*)>(
      reduce::next_or_of_mpi("mpi_request_get_status_f08_", "pmpir_request_get_status_f08_"));
  of_next(request, flag, status, error);
}

extern "C" void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  static auto* const of_next = reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*)>(
      reduce::next_or_of_mpi("mpi_barrier_f08_", "pmpir_barrier_f08_"));
  of_next(comm, error);
  if (reduce::mpi_is_running()) reduce::NodeGroup::met(PMPI_Comm_f2c(*comm));
}
// NOLINTEND(bugprone-reserved-identifier)
#endif

#if defined(OPEN_MPI)
extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* duplicate, MPI_Request* request) {
  reduce::NodeGroup::make_no_more();
  return next("MPI_Comm_idup", PMPI_Comm_idup)(comm, duplicate, request);
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
[[gnu::constructor]] void begin_log() { static_cast<void>(reduce::Log::of_program()); }
}  // namespace
