// The intercepted routines under the names that Fortran programs call, for Open MPI, whose Fortran layer calls its C
// layer by the profiling names. mpif.h and the module mpi come to mpi_<name>_, in any spelling; the module mpi_f08 to
// ompi_<name>_f, with the same arguments.
#include <mpi-ext.h>

#include <mpi.h>

#include <optional>

#include "shim/reduce/collectives.hpp"
#include "shim/reduce/fortran_layer.hpp"
#include "shim/reduce/local.hpp"
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

std::optional<int> reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  if (reduce::reduce_local(in, inout, count, type, op)) return MPI_SUCCESS;
  return std::nullopt;
}

// The request, in Fortran's form, of what was begun.
std::optional<int> told_request(std::optional<int> code, MPI_Request made, MPI_Fint* request) {
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(made);
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
#define PLAIT_FORTRAN(lower, UPPER, parameters, arguments, attempt) \
  PLAIT_FORTRAN_WITH(mpi, MPI, lower, UPPER, parameters, arguments, attempt)

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

#define PLAIT_FORTRAN_COLLECTIVE(lower, UPPER, attempt)                                                            \
  PLAIT_FORTRAN(                                                                                                   \
      lower, UPPER,                                                                                                \
      (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error), \
      (send, receive, count, type, op, comm, error), attempt)

PLAIT_FORTRAN(reduce_local, REDUCE_LOCAL,
              (void* in, void* inout, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* error),
              (in, inout, count, type, op, error),
              reduce_local(in_c(in), in_c(inout), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op)))
PLAIT_FORTRAN(reduce, REDUCE,
              (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm,
               MPI_Fint* error),
              (send, receive, count, type, op, root, comm, error),
              reduce::reduce(in_c(send), in_c(receive), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), *root,
                             PMPI_Comm_f2c(*comm)))
PLAIT_FORTRAN_COLLECTIVE(allreduce, ALLREDUCE,
                         reduce::allreduce(in_c(send), in_c(receive), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),
                                           PMPI_Comm_f2c(*comm)))
PLAIT_FORTRAN_COLLECTIVE(reduce_scatter, REDUCE_SCATTER,
                         reduce::reduce_scatter(in_c(send), in_c(receive), count, PMPI_Type_f2c(*type),
                                                PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)))
PLAIT_FORTRAN_COLLECTIVE(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
                         reduce::reduce_scatter_block(in_c(send), in_c(receive), *count, PMPI_Type_f2c(*type),
                                                      PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)))
PLAIT_FORTRAN_COLLECTIVE(scan, SCAN,
                         reduce::scan(in_c(send), in_c(receive), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),
                                      PMPI_Comm_f2c(*comm)))
PLAIT_FORTRAN_COLLECTIVE(exscan, EXSCAN,
                         reduce::exscan(in_c(send), in_c(receive), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),
                                        PMPI_Comm_f2c(*comm)))

PLAIT_FORTRAN_TELLING(barrier, BARRIER, (MPI_Fint * comm, MPI_Fint* error), (comm, error), meet(comm))

#define PLAIT_FORTRAN_NON_BLOCKING(lower, UPPER, counts)                                                   \
  PLAIT_FORTRAN(lower, UPPER,                                                                              \
                (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, \
                 MPI_Fint* request, MPI_Fint* error),                                                      \
                (send, receive, count, type, op, comm, request, error), [&] {                              \
                  MPI_Request made = MPI_REQUEST_NULL;                                                     \
                  const auto code = reduce::lower(in_c(send), in_c(receive), counts, PMPI_Type_f2c(*type), \
                                                  PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm), &made);          \
                  return told_request(code, made, request);                                                \
                }())

PLAIT_FORTRAN(ireduce, IREDUCE,
              (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm,
               MPI_Fint* request, MPI_Fint* error),
              (send, receive, count, type, op, root, comm, request, error), [&] {
                MPI_Request made = MPI_REQUEST_NULL;
                const auto code = reduce::ireduce(in_c(send), in_c(receive), *count, PMPI_Type_f2c(*type),
                                                  PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm), &made);
                return told_request(code, made, request);
              }())
PLAIT_FORTRAN_NON_BLOCKING(iallreduce, IALLREDUCE, *count)
PLAIT_FORTRAN_NON_BLOCKING(ireduce_scatter, IREDUCE_SCATTER, count)
PLAIT_FORTRAN_NON_BLOCKING(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, *count)
PLAIT_FORTRAN_NON_BLOCKING(iscan, ISCAN, *count)
PLAIT_FORTRAN_NON_BLOCKING(iexscan, IEXSCAN, *count)

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)

#define PLAIT_FORTRAN_PERSISTENT(lower, UPPER, begin, counts)                                                       \
  PLAIT_FORTRAN_WITH(mpix, MPIX, lower##_init, UPPER##_INIT,                                                        \
                     (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm,     \
                      MPI_Fint* info, MPI_Fint* request, MPI_Fint* error),                                          \
                     (send, receive, count, type, op, comm, info, request, error), [&] {                            \
                       MPI_Request made = MPI_REQUEST_NULL;                                                         \
                       const auto code =                                                                            \
                           reduce::begin(in_c(send), in_c(receive), counts, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), \
                                         PMPI_Comm_f2c(*comm), &made, reduce::Begin::at_each_start);                \
                       return told_request(code, made, request);                                                    \
                     }())

PLAIT_FORTRAN_WITH(mpix, MPIX, reduce_init, REDUCE_INIT,
                   (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* root,
                    MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request, MPI_Fint* error),
                   (send, receive, count, type, op, root, comm, info, request, error), [&] {
                     MPI_Request made = MPI_REQUEST_NULL;
                     const auto code =
                         reduce::ireduce(in_c(send), in_c(receive), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),
                                         *root, PMPI_Comm_f2c(*comm), &made, reduce::Begin::at_each_start);
                     return told_request(code, made, request);
                   }())
PLAIT_FORTRAN_PERSISTENT(allreduce, ALLREDUCE, iallreduce, *count)
PLAIT_FORTRAN_PERSISTENT(reduce_scatter, REDUCE_SCATTER, ireduce_scatter, count)
PLAIT_FORTRAN_PERSISTENT(reduce_scatter_block, REDUCE_SCATTER_BLOCK, ireduce_scatter_block, *count)
PLAIT_FORTRAN_PERSISTENT(scan, SCAN, iscan, *count)
PLAIT_FORTRAN_PERSISTENT(exscan, EXSCAN, iexscan, *count)

#undef PLAIT_FORTRAN_PERSISTENT
#endif

#undef PLAIT_FORTRAN_NON_BLOCKING
#undef PLAIT_FORTRAN_COLLECTIVE
#undef PLAIT_FORTRAN_TELLING
#undef PLAIT_FORTRAN_PASSING
#undef PLAIT_FORTRAN
#undef PLAIT_FORTRAN_WITH
#undef PLAIT_FORTRAN_OF_MPI
#undef PLAIT_FORTRAN_NAMES

// NOLINTEND(bugprone-macro-parentheses,cppcoreguidelines-macro-usage)
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
