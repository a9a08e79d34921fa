#include "shim/scalapack/execution.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <span>

namespace plait::shim::scalapack {

namespace {

using redistribute::Agreement;

void expect_none(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void end_program(const std::string& what) {
  std::fprintf(stderr, "plait: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void execute(CachedPlan& cached, const std::optional<redistribute::Operands>& operands,
             const std::exception_ptr& failure, Index element_bytes) {
  const auto given = operands ? std::span(&*operands, 1) : std::span<const redistribute::Operands>();
  const bool proven = cached.proven.contains(element_bytes);
  if (!proven) {
    try {
      cached.plan.start(given, failure, Agreement::once);
    } catch (const Error& error) {
      throw PassOn{error.what()};
    }
    cached.proven.insert(element_bytes);
  }
  try {
    if (proven) {
      expect_none(failure);
      cached.plan.start(given, nullptr, Agreement::reached);
    }
    cached.plan.wait();
  } catch (const std::exception& error) {
    end_program(error.what());
  }
}

}  // namespace plait::shim::scalapack
