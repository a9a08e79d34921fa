#include "bench/reduce/op_avx.hpp"

#include <dlfcn.h>

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>

#include "plait/simd/isa.hpp"

#include "bench/reduce/loaded_library.hpp"

namespace plait::bench {

namespace {

using simd::Element;
using simd::ReduceOperation;

// As Open MPI 4.1 numbers them in ompi/mca/op/op.h.
constexpr std::size_t types_in_table = 41;

[[maybe_unused]] std::optional<std::size_t> row_of(ReduceOperation operation) {
  switch (operation) {
    case ReduceOperation::max: return 1;
    case ReduceOperation::min: return 2;
    case ReduceOperation::sum: return 3;
    case ReduceOperation::prod: return 4;
    case ReduceOperation::band: return 6;
    case ReduceOperation::bor: return 8;
    case ReduceOperation::bxor: return 10;
    default: return std::nullopt;
  }
}

[[maybe_unused]] std::optional<std::size_t> column_of(Element element) {
  switch (element) {
    case Element::int8: return 0;
    case Element::uint8: return 1;
    case Element::int16: return 2;
    case Element::uint16: return 3;
    case Element::int32: return 4;
    case Element::uint32: return 5;
    case Element::int64: return 6;
    case Element::uint64: return 7;
    case Element::float32: return 14;
    case Element::float64: return 15;
    default: return std::nullopt;
  }
}

/// The loaded component, which Open MPI keeps to itself.
[[maybe_unused]] void* component() {
  const std::string path = loaded_library("mca_op_avx.so");
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

/// Its kernels for the best instruction set that this machine has.
[[maybe_unused]] const char* table_name() {
  const simd::Isa isa = simd::best_isa();
  if (isa == simd::Isa::avx512) return "ompi_op_avx_functions_avx512";
  return isa == simd::Isa::avx2 ? "ompi_op_avx_functions_avx2" : "ompi_op_avx_functions_avx";
}

}  // namespace

OpAvxKernel* op_avx_kernel([[maybe_unused]] ReduceOperation operation, [[maybe_unused]] Element element) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1
  const auto row = row_of(operation), column = column_of(element);
  void* const library = component();
  if (!row || !column || library == nullptr) return nullptr;
  const auto* table = static_cast<OpAvxKernel* const*>(dlsym(library, table_name()));
  return table == nullptr ? nullptr : table[*row * types_in_table + *column];
#else
  return nullptr;
#endif
}

}  // namespace plait::bench
