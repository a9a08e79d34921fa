#include "plait/mpi/context.hpp"

#include <memory>
#include <string>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"

#include "capi/arguments.hpp"
#include "capi/communicator.hpp"
#include "capi/error.hpp"
#include "capi/handle.hpp"
#include "capi/plait.h"

using namespace plait::capi;

namespace {

/// \pre  it is a communicator
void create(MPI_Comm comm, plait_context** context) {
  auto duplicate = std::make_shared<plait::mpi::Context>(comm);
  auto made = plait::mpi::agreed(*duplicate, [&] {
    expect_output(context, "context");
    auto result = std::make_unique<plait_context>();
    result->context = duplicate;
    return result;
  });
  *context = made.release();
}

}  // namespace

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
