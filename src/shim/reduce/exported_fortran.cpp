// The intercepted routines under the names that Fortran programs call, for Open MPI, whose Fortran layer calls its C
// layer by the profiling names. mpif.h and the module mpi come to mpi_<name>_, in any spelling; the module mpi_f08 to
// ompi_<name>_f, with the same arguments.
// clang-format off: the latter takes what the former declares
#include <mpi.h>
#include <mpi-ext.h>
// clang-format on

#include <optional>

#include "shim/reduce/collectives.hpp"
#include "shim/reduce/fortran_layer.hpp"
#include "shim/reduce/node_group.hpp"
#include "shim/reduce/running.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): Open MPI's names

// MPI_IN_PLACE and MPI_BOTTOM are common blocks in Fortran, known by their addresses. libmpi itself defines them in the
// spelling of the compiler that it was built with, often in no other: the addresses of the others are null then.
extern "C" {
[[gnu::weak]] extern int mpi_fortran_in_place;
[[gnu::weak]] extern int mpi_fortran_in_place_;
[[gnu::weak]] extern int mpi_fortran_in_place__;
[[gnu::weak]] extern int MPI_FORTRAN_IN_PLACE;
[[gnu::weak]] extern int mpi_fortran_bottom;
[[gnu::weak]] extern int mpi_fortran_bottom_;
[[gnu::weak]] extern int mpi_fortran_bottom__;
[[gnu::weak]] extern int MPI_FORTRAN_BOTTOM;
}

namespace {

namespace reduce = plait::shim::reduce;

void* in_c(void* buffer) {
  if (buffer == nullptr) return buffer;  // of what is not allocated, and the address of spellings that don't exist
  if (buffer == &mpi_fortran_in_place || buffer == &mpi_fortran_in_place_ || buffer == &mpi_fortran_in_place__ ||
      buffer == &MPI_FORTRAN_IN_PLACE) {
    return MPI_IN_PLACE;
  }
  if (buffer == &mpi_fortran_bottom || buffer == &mpi_fortran_bottom_ || buffer == &mpi_fortran_bottom__ ||
      buffer == &MPI_FORTRAN_BOTTOM) {
    return MPI_BOTTOM;
  }
  return buffer;
}

// What stands in the program's error argument is MPI's code, if it was served.
bool told(std::optional<int> code, MPI_Fint* error) {
  if (code && error != nullptr) *error = *code;
  return code.has_value();
}

std::optional<int> done(bool is_done) { return is_done ? std::optional(MPI_SUCCESS) : std::nullopt; }

// A reduction, and of one that is begun the request in Fortran's form.
std::optional<int> reduced(reduce::Kind kind, reduce::Begin begin, const MPI_Fint* count, reduce::Call call,
                           MPI_Fint* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  if (request != nullptr) call.request = &made;
  const auto code = reduce::reduced(kind, begin, count, call);
  if (request != nullptr && code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
  return code;
}

// Behind a barrier, as in C.
void meet(const MPI_Fint* comm) {
  if (reduce::mpi_is_running()) reduce::NodeGroup::met(PMPI_Comm_f2c(*comm));
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses,cppcoreguidelines-macro-usage): names are made of pieces

// The spellings of a routine, `lower` and `UPPER` being its name in both cases, `mpi` and `MPI` what is in front of it;
// and MPI's own one.
#define PLAIT_FORTRAN_NAMES(mpi, MPI, lower, UPPER, parameters)                                  \
  extern "C" void mpi##_##lower parameters __attribute__((alias("o" #mpi "_" #lower "_f")));     \
  extern "C" void mpi##_##lower##_ parameters __attribute__((alias("o" #mpi "_" #lower "_f")));  \
  extern "C" void mpi##_##lower##__ parameters __attribute__((alias("o" #mpi "_" #lower "_f"))); \
  extern "C" void MPI##_##UPPER parameters __attribute__((alias("o" #mpi "_" #lower "_f")));
#define PLAIT_FORTRAN_OF_MPI(mpi, lower, parameters) \
  static auto* const of_mpi = reinterpret_cast<void(*) parameters>(reduce::of_fortran_layer("p" #mpi "_" #lower "_"))

// A routine of these parameters, which `attempt` may serve, and MPI itself otherwise.
#define PLAIT_FORTRAN_WITH(mpi, MPI, lower, UPPER, parameters, arguments, attempt) \
  extern "C" void o##mpi##_##lower##_f parameters {                                \
    if (reduce::mpi_is_running() && told(attempt, error)) return;                  \
    PLAIT_FORTRAN_OF_MPI(mpi, lower, parameters);                                  \
    of_mpi arguments;                                                              \
  }                                                                                \
  PLAIT_FORTRAN_NAMES(mpi, MPI, lower, UPPER, parameters)

// Routines that only tell plait something: each spelling goes on to whoever intercepts it next, such as a profiler.
#define PLAIT_FORTRAN_PASSING(symbol, lower, parameters, arguments, tell)                          \
  extern "C" void symbol parameters {                                                              \
    static auto* const next =                                                                      \
        reinterpret_cast<void(*) parameters>(reduce::next_or_of_mpi(#symbol, "pmpi_" #lower "_")); \
    next arguments;                                                                                \
    tell;                                                                                          \
  }
#define PLAIT_FORTRAN_TELLING(lower, UPPER, parameters, arguments, tell)     \
  PLAIT_FORTRAN_PASSING(mpi_##lower, lower, parameters, arguments, tell)     \
  PLAIT_FORTRAN_PASSING(mpi_##lower##_, lower, parameters, arguments, tell)  \
  PLAIT_FORTRAN_PASSING(mpi_##lower##__, lower, parameters, arguments, tell) \
  PLAIT_FORTRAN_PASSING(MPI_##UPPER, lower, parameters, arguments, tell)     \
  PLAIT_FORTRAN_PASSING(ompi_##lower##_f, lower, parameters, arguments, tell)

PLAIT_FORTRAN_TELLING(init, INIT, (MPI_Fint * error), (error), reduce::start_serving())
PLAIT_FORTRAN_TELLING(init_thread, INIT_THREAD, (MPI_Fint * required, MPI_Fint* provided, MPI_Fint* error),
                      (required, provided, error), reduce::start_serving())
PLAIT_FORTRAN_TELLING(comm_free, COMM_FREE, (MPI_Fint * comm, MPI_Fint* error), (comm, error),
                      reduce::NodeGroup::forget_freed())
PLAIT_FORTRAN_TELLING(comm_disconnect, COMM_DISCONNECT, (MPI_Fint * comm, MPI_Fint* error), (comm, error),
                      reduce::NodeGroup::forget_freed())
PLAIT_FORTRAN_TELLING(comm_idup, COMM_IDUP, (MPI_Fint * comm, MPI_Fint* duplicate, MPI_Fint* request, MPI_Fint* error),
                      (comm, duplicate, request, error), reduce::NodeGroup::make_no_more())

PLAIT_FORTRAN_TELLING(barrier, BARRIER, (MPI_Fint * comm, MPI_Fint* error), (comm, error), meet(comm))

PLAIT_FORTRAN_WITH(mpi, MPI, reduce_local, REDUCE_LOCAL,
                   (void* in, void* inout, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* error),
                   (in, inout, count, type, op, error),
                   done(reduce::reduced_locally(in_c(in), in_c(inout), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op))))

// What is different where one rank gets the result: `who` is all or one; and in the form: `with` is nothing, request or
// info, which has a request, too.
#define PLAIT_ROOT_PARAMETER_all
#define PLAIT_ROOT_PARAMETER_one MPI_Fint *root,
#define PLAIT_ROOT_ARGUMENT_all
#define PLAIT_ROOT_ARGUMENT_one root,
#define PLAIT_ROOT_OF_all 0
#define PLAIT_ROOT_OF_one *root
#define PLAIT_PARAMETERS_nothing
#define PLAIT_PARAMETERS_request MPI_Fint *request,
#define PLAIT_PARAMETERS_info MPI_Fint *info, MPI_Fint *request,
#define PLAIT_ARGUMENTS_nothing
#define PLAIT_ARGUMENTS_request request,
#define PLAIT_ARGUMENTS_info info, request,
#define PLAIT_REQUEST_nothing nullptr
#define PLAIT_REQUEST_request request
#define PLAIT_REQUEST_info request
#define PLAIT_FORTRAN_REDUCTION(mpi, MPI, lower, UPPER, kind, begin, who, with)                                        \
  PLAIT_FORTRAN_WITH(mpi, MPI, lower, UPPER,                                                                           \
                     (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,                        \
                      PLAIT_ROOT_PARAMETER_##who MPI_Fint* comm, PLAIT_PARAMETERS_##with MPI_Fint* error),             \
                     (send, receive, count, type, op, PLAIT_ROOT_ARGUMENT_##who comm, PLAIT_ARGUMENTS_##with error),   \
                     reduced(reduce::Kind::kind, reduce::Begin::begin, count,                                          \
                             {in_c(send), in_c(receive), PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm), \
                              PLAIT_ROOT_OF_##who},                                                                    \
                             PLAIT_REQUEST_##with))

#define PLAIT_FORTRAN_REDUCTIONS(lower, UPPER, who)                             \
  PLAIT_FORTRAN_REDUCTION(mpi, MPI, lower, UPPER, lower, and_end, who, nothing) \
  PLAIT_FORTRAN_REDUCTION(mpi, MPI, i##lower, I##UPPER, lower, at_once, who, request)

PLAIT_FORTRAN_REDUCTIONS(reduce, REDUCE, one)
PLAIT_FORTRAN_REDUCTIONS(allreduce, ALLREDUCE, all)
PLAIT_FORTRAN_REDUCTIONS(reduce_scatter, REDUCE_SCATTER, all)
PLAIT_FORTRAN_REDUCTIONS(reduce_scatter_block, REDUCE_SCATTER_BLOCK, all)
PLAIT_FORTRAN_REDUCTIONS(scan, SCAN, all)
PLAIT_FORTRAN_REDUCTIONS(exscan, EXSCAN, all)

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PLAIT_FORTRAN_PERSISTENT(lower, UPPER, who) \
  PLAIT_FORTRAN_REDUCTION(mpix, MPIX, lower##_init, UPPER##_INIT, lower, at_each_start, who, info)

PLAIT_FORTRAN_PERSISTENT(reduce, REDUCE, one)
PLAIT_FORTRAN_PERSISTENT(allreduce, ALLREDUCE, all)
PLAIT_FORTRAN_PERSISTENT(reduce_scatter, REDUCE_SCATTER, all)
PLAIT_FORTRAN_PERSISTENT(reduce_scatter_block, REDUCE_SCATTER_BLOCK, all)
PLAIT_FORTRAN_PERSISTENT(scan, SCAN, all)
PLAIT_FORTRAN_PERSISTENT(exscan, EXSCAN, all)

#undef PLAIT_FORTRAN_PERSISTENT
#endif

#undef PLAIT_FORTRAN_REDUCTIONS
#undef PLAIT_FORTRAN_REDUCTION
#undef PLAIT_REQUEST_info
#undef PLAIT_REQUEST_request
#undef PLAIT_REQUEST_nothing
#undef PLAIT_ARGUMENTS_info
#undef PLAIT_ARGUMENTS_request
#undef PLAIT_ARGUMENTS_nothing
#undef PLAIT_PARAMETERS_info
#undef PLAIT_PARAMETERS_request
#undef PLAIT_PARAMETERS_nothing
#undef PLAIT_ROOT_OF_one
#undef PLAIT_ROOT_OF_all
#undef PLAIT_ROOT_ARGUMENT_one
#undef PLAIT_ROOT_ARGUMENT_all
#undef PLAIT_ROOT_PARAMETER_one
#undef PLAIT_ROOT_PARAMETER_all
#undef PLAIT_FORTRAN_TELLING
#undef PLAIT_FORTRAN_PASSING
#undef PLAIT_FORTRAN_WITH
#undef PLAIT_FORTRAN_OF_MPI
#undef PLAIT_FORTRAN_NAMES

// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
