#include "plait/mpi/context.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/error.hpp"
#include "plait/mpi/handles.hpp"

#include "capi/handle.hpp"

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
  const auto context = mpi::context_of(comm);
  mpi::agreed(*context, [&] {
    expect_output(result, "permuted");
    expect_permutation(expect_array(rank_of, count, "rank_of"), context->size());
  });
  MPI_Comm permuted = context->comm().permuted({rank_of, static_cast<std::size_t>(count)}).release();
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  mpi::check(MPI_Comm_get_errhandler(comm, &handler), "MPI_Comm_get_errhandler");
  mpi::check(MPI_Comm_set_errhandler(permuted, handler), "MPI_Comm_set_errhandler");
  mpi::check(MPI_Errhandler_free(&handler), "MPI_Errhandler_free");
  return permuted;
}

/// \throws MpiError       if MPI is not running
/// \throws ArgumentError  if it is no communicator, as far as MPI can tell, MPI_COMM_NULL, or joins two groups
void expect_communicator(MPI_Comm comm, const std::string& argument = "comm") {
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

/// \pre  it is a communicator
void create(MPI_Comm comm, plait_context** context) {
  auto duplicate = std::make_shared<mpi::Context>(comm);
  auto made = mpi::agreed(*duplicate, [&] {
    expect_output(context, "context");
    auto result = std::make_unique<plait_context>();
    result->context = duplicate;
    return result;
  });
  *context = made.release();
}

}  // namespace

}  // namespace plait::capi

using namespace plait::capi;

int plait_context_create(MPI_Comm comm, plait_context** context) {
  if (context != nullptr) *context = nullptr;
  return guarded([&] {
    expect_communicator(comm);
    create(comm, context);
  });
}

int plait_context_create_f(MPI_Fint comm, plait_context** context) {
  if (context != nullptr) *context = nullptr;
  return guarded([&] { create(from_fortran(comm), context); });
}

int plait_context_free(plait_context** context) { return free_handle(context, "context"); }

int plait_context_rank(const plait_context* context, int* rank) {
  return guarded([&] { expect_output(rank, "rank") = expect_handle(context, "context").context->rank(); });
}

int plait_context_size(const plait_context* context, int* size) {
  return guarded([&] { expect_output(size, "size") = expect_handle(context, "context").context->size(); });
}

int plait_context_nodes(const plait_context* context, int* node_of, plait_index count) {
  return guarded([&] {
    const plait::mpi::Context& its = *expect_handle(context, "context").context;
    if (count != its.size()) {
      throw plait::ArgumentError("count: is " + std::to_string(count) + ", expected the size of the context, " +
                                 std::to_string(its.size()));
    }
    int rank = 0;
    for (int& node : expect_array(node_of, count, "node_of")) node = its.topology().node_of(rank++);
  });
}

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
