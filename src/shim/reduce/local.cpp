#include "shim/reduce/local.hpp"

#include "plait/base/index.hpp"

#include "shim/reduce/kernels.hpp"
#include "shim/reduce/log.hpp"
#include "shim/reduce/running.hpp"

namespace plait::shim::reduce {

namespace {

/// What a thread reduced last, which it will mostly reduce next.
struct FoundKernel {
  MPI_Op operation;
  MPI_Datatype type;
  simd::ReduceKernel* kernel;
  Index element_bytes;
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local constinit FoundKernel found_last{};

// True if there is a kernel, which is remembered then.
bool find_kernel(MPI_Op operation, MPI_Datatype type) noexcept {
  const auto reduction = mpi::predefined_reduction(operation, type);
  simd::ReduceKernel* const kernel = reduction ? kernel_of(*reduction) : nullptr;
  if (kernel == nullptr) return false;
  found_last = {operation, type, kernel, simd::size_in_bytes(reduction->element)};
  return true;
}

bool pass_on(Outcome why) noexcept {
  Log::of_program().count(Routine::reduce_local, why, 0);
  return false;
}

}  // namespace

bool reduce_local(const void* in, void* inout, Index count, MPI_Datatype type, MPI_Op operation) noexcept {
  if (!mpi_is_running()) return false;
  const bool is_known = found_last.operation == operation && found_last.type == type && found_last.kernel != nullptr;
  if (!is_known && !find_kernel(operation, type)) return pass_on(Outcome::reduction);
  const bool are_buffers = in != nullptr && inout != nullptr && in != MPI_IN_PLACE && inout != MPI_IN_PLACE;
  if (count <= 0 || !are_buffers || in == inout) return pass_on(Outcome::arguments);
  found_last.kernel(count, in, inout);
  Log::of_program().count(Routine::reduce_local, Outcome::served, count * found_last.element_bytes);
  return true;
}

}  // namespace plait::shim::reduce
