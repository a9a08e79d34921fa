#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/reduce.hpp"

#include "shim/openmpi/internals.hpp"
#include "shim/openmpi/tables.hpp"

namespace plait::shim::openmpi {

/// How often one function was called, and on how many elements, by all threads.
struct Count {
  std::atomic<std::int64_t> calls = 0;
  std::atomic<std::int64_t> elements = 0;

  void add(Index n) noexcept {
    calls.fetch_add(1, std::memory_order_relaxed);
    elements.fetch_add(n, std::memory_order_relaxed);
  }
};

/// inout[i] = in[i] op inout[i] for one i, without the padding at the end of the elements. Kernels read and write all
/// of an element, if only to leave its padding as it is, but Open MPI takes memory for n of them without the padding of
/// the last one.
using OneOf = void(Index i, const void* in, void* inout) noexcept;

/// The kernels of one operation and the functions by which Open MPI calls them, as it passes their module to them.
struct Module {
  ompi_op_base_module_t base;  // first: it is by its address that Open MPI knows the module
  std::array<simd::ReduceKernel*, type_count> reduce;
  std::array<simd::CombineKernel*, type_count> combine;
  std::array<OneOf*, type_count> last;  // null where elements don't end in padding
  std::array<Count, type_count> counts;
};

/// Makes the module of an operation: kernels for all that Open MPI has functions for, and nothing else, for it takes a
/// difference for an error. Only functions of three buffers on pairs with padding stay Open MPI's.
///
/// \param module   all zero. It is never to be released: Open MPI releases modules more often than it retained them
/// \param counted  whether calls are to be counted
void make_module(Module& module, const Operation& operation, simd::Isa isa, bool counted);

}  // namespace plait::shim::openmpi
