#include "capi/communicator.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/error.hpp"
#include "plait/mpi/handles.hpp"

#include "capi/arguments.hpp"
#include "capi/error.hpp"
#include "capi/plait.h"

namespace plait::capi {

namespace {

void expect_permutation(std::span<const int> rank_of, int size) {
  if (static_cast<Index>(rank_of.size()) != size) {
    throw ArgumentError("count: is " + std::to_string(rank_of.size()) + ", expected the size of the communicator, " +
                        std::to_string(size));
  }
  std::vector<bool> seen(rank_of.size());
  for (std::size_t i = 0; i < rank_of.size(); ++i) {
    const std::string entry = "rank_of[" + std::to_string(i) + "]";
    expect_below(entry, rank_of[i], size);
    const auto rank = static_cast<std::size_t>(rank_of[i]);
    if (seen[rank]) {
      throw ArgumentError(entry + ": is " + std::to_string(rank_of[i]) + " once more, expected each rank once");
    }
    seen[rank] = true;
  }
}

/// \param result  for the handle of C or of Fortran
template <class Result>
MPI_Comm permuted_communicator(MPI_Comm comm, const int* rank_of, Index count, Result* result) {
  mpi::Context context(comm);
  mpi::agreed(context, [&] {
    expect_output(result, "permuted");
    expect_permutation(expect_array(rank_of, count, "rank_of"), context.size());
  });
  MPI_Comm permuted = context.comm().permuted({rank_of, static_cast<std::size_t>(count)}).release();
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  mpi::check(MPI_Comm_get_errhandler(comm, &handler), "MPI_Comm_get_errhandler");
  mpi::check(MPI_Comm_set_errhandler(permuted, handler), "MPI_Comm_set_errhandler");
  mpi::check(MPI_Errhandler_free(&handler), "MPI_Errhandler_free");
  return permuted;
}

}  // namespace

void expect_mpi() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0 || mpi::is_finalized()) {
    throw MpiError("MPI is not running: expected a call between MPI_Init and MPI_Finalize");
  }
}

void expect_communicator(MPI_Comm comm, const std::string& argument) {
  expect_mpi();
  if (comm == MPI_COMM_NULL) throw ArgumentError(argument + ": is MPI_COMM_NULL, expected a communicator");
  if (!mpi::is_communicator(comm)) throw ArgumentError(argument + ": is no communicator, expected one");
  int joins_groups = 0;
  mpi::check(MPI_Comm_test_inter(comm, &joins_groups), "MPI_Comm_test_inter");
  if (joins_groups != 0) throw ArgumentError(argument + ": is an intercommunicator, expected one of a single group");
}

MPI_Comm from_fortran(MPI_Fint comm) {
  expect_mpi();
  MPI_Comm const known = MPI_Comm_f2c(comm);
  expect_communicator(known, "comm = " + std::to_string(comm));
  return known;
}

}  // namespace plait::capi

using namespace plait::capi;

int plait_permute(MPI_Comm comm, const int* rank_of, plait_index count, MPI_Comm* permuted) {
  return guarded([&] {
    expect_communicator(comm);
    MPI_Comm const result = permuted_communicator(comm, rank_of, count, permuted);
    *permuted = result;
  });
}

int plait_permute_f(MPI_Fint comm, const int* rank_of, plait_index count, MPI_Fint* permuted) {
  return guarded([&] {
    MPI_Comm const result = permuted_communicator(from_fortran(comm), rank_of, count, permuted);
    *permuted = MPI_Comm_c2f(result);
  });
}
