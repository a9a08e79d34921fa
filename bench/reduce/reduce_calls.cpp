// What bench/reduce/instructions.py counts the instructions of: reductions of one array into another one, each called
// twice, the second time by `counted_call`. Prints the MPI library, the instruction set, and a line for each in their
// order: who reduces, the operation, the type, the bytes.
//
//   reduce_calls [--quick]

#include <mpi.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "plait/mpi/environment.hpp"
#include "plait/simd/isa.hpp"

#include "bench/harness/mpi_name.hpp"
#include "bench/reduce/reduce_deliveries.hpp"
#include "bench/reduce/reduce_operands.hpp"
#include "bench/reduce/reduced_types.hpp"

namespace {

using namespace plait;
using simd::ReduceOperation;

using ReduceLocal = int(const void*, void*, int, MPI_Datatype, MPI_Op);

/// A reduction with all that it is called with; the kernel, or one of MPI's functions.
struct Call {
  simd::ReduceKernel* kernel;
  ReduceLocal* reduce_local;
  Index n;
  const void* in;
  void* inout;
  MPI_Datatype type;
  MPI_Op operation;
};

}  // namespace

/// By this name callgrind knows when to count.
extern "C" __attribute__((noinline)) void counted_call(const Call* call) {
  if (call->kernel != nullptr) {
    call->kernel(call->n, call->in, call->inout);
  } else {
    call->reduce_local(call->in, call->inout, static_cast<int>(call->n), call->type, call->operation);
  }
}

namespace {

void twice(const std::string& by, const std::string& what, const Call& call) {
  if (call.kernel != nullptr) {
    call.kernel(call.n, call.in, call.inout);
  } else {
    call.reduce_local(call.in, call.inout, static_cast<int>(call.n), call.type, call.operation);
  }
  counted_call(&call);
  std::printf("%s %s\n", by.c_str(), what.c_str());
}

void reduce(const bench::OperandMemory& memory, ReduceOperation operation, const bench::ReducedType& type,
            Index bytes) {
  simd::ReduceKernel* const kernel = simd::reduce_kernel(operation, type.element);
  const Index n = bytes / simd::size_in_bytes(type.element);
  const std::string what = std::string(simd::name(operation)) + " " + type.name + " " + std::to_string(bytes);
  const Call by_library{
      nullptr, PMPI_Reduce_local, n, memory.in(), memory.inout(), type.type, bench::mpi_operation(operation)};
  Call call = by_library;
  call.kernel = kernel;
  twice("kernel", what, call);
  if (bench::is_preloaded()) {
    call = by_library;
    call.reduce_local = MPI_Reduce_local;
    twice("preload", what, call);
  }
  twice("library", what, by_library);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::printf("%s\n%s\n", mpi::library_version().c_str(), std::string(simd::name(simd::selected_isa())).c_str());
  const bool is_quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  constexpr Index most_bytes = 16384;
  const auto memory = std::make_shared<const bench::OperandMemory>(most_bytes);
  const auto types = bench::reduced_types();
  struct Counted {
    ReduceOperation operation;
    const char* type;
  };
  for (const auto& [operation, name] :
       {Counted{ReduceOperation::sum, "MPI_DOUBLE"}, Counted{ReduceOperation::sum, "MPI_FLOAT"},
        Counted{ReduceOperation::sum, "MPI_INT8_T"}, Counted{ReduceOperation::prod, "MPI_INT8_T"},
        Counted{ReduceOperation::max, "MPI_INT32_T"}, Counted{ReduceOperation::land, "MPI_INT32_T"},
        Counted{ReduceOperation::sum, "MPI_LONG"}, Counted{ReduceOperation::prod, "MPI_C_DOUBLE_COMPLEX"},
        Counted{ReduceOperation::maxloc, "MPI_DOUBLE_INT"}}) {
    for (const Index bytes : std::array<Index, 3>{64, 1024, most_bytes}) {
      if (is_quick && bytes != 1024) continue;
      for (const bench::ReducedType& type : types) {
        if (type.name != name) continue;
        const bench::ReduceOperands operands(memory, operation, type.element, bytes, bench::Caches::warm);
        reduce(*memory, operation, type, bytes);
      }
    }
  }
  return MPI_Finalize();
}
