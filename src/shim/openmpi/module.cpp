#include "shim/openmpi/module.hpp"

#include <type_traits>
#include <utility>

namespace plait::shim::openmpi {

namespace {

static_assert(std::is_standard_layout_v<Module>, "a module is found by the address of its first member");

Module& module_at(ompi_op_base_module_t* base) noexcept { return *reinterpret_cast<Module*>(base); }

// Whose kernels are right. Open MPI 4.1 calls the functions of unsigned integers for MPI_OFFSET as well, which has a
// sign.
template <std::size_t type>
std::size_t type_of([[maybe_unused]] ompi_datatype_t** datatype) noexcept {
  if constexpr (type == OMPI_OP_BASE_TYPE_UINT64_T) {
    if (*datatype == MPI_OFFSET) return OMPI_OP_BASE_TYPE_INT64_T;
  }
  return type;
}

template <std::size_t type, bool padded>
void reduce(const void* in, void* inout, int* count, ompi_datatype_t** datatype, ompi_op_base_module_t* base) noexcept {
  const Module& module = module_at(base);
  const Index n = padded ? Index{*count} - 1 : *count;
  if constexpr (padded) {
    if (n < 0) return;
    module.last[type](n, in, inout, inout);
  }
  module.reduce[type_of<type>(datatype)](n, in, inout);
}

template <std::size_t type, bool padded>
void combine(const void* a, const void* b, void* out, int* count, ompi_datatype_t** datatype,
             ompi_op_base_module_t* base) noexcept {
  const Module& module = module_at(base);
  const Index n = padded ? Index{*count} - 1 : *count;
  if constexpr (padded) {
    if (n < 0) return;
    module.last[type](n, a, b, out);
  }
  module.combine[type_of<type>(datatype)](n, a, b, out);
}

template <std::size_t type, bool padded>
void counted_reduce(const void* in, void* inout, int* count, ompi_datatype_t** datatype,
                    ompi_op_base_module_t* module) noexcept {
  module_at(module).counts[type_of<type>(datatype)].add(*count);
  reduce<type, padded>(in, inout, count, datatype, module);
}

template <std::size_t type, bool padded>
void counted_combine(const void* a, const void* b, void* out, int* count, ompi_datatype_t** datatype,
                     ompi_op_base_module_t* module) noexcept {
  module_at(module).counts[type_of<type>(datatype)].add(*count);
  combine<type, padded>(a, b, out, count, datatype, module);
}

// The functions for elements of one kind, in the forms of which Open MPI's tables get one.
struct Functions {
  ompi_op_base_handler_fn_t reduce;
  ompi_op_base_3buff_handler_fn_t combine;
};

template <std::size_t type, bool padded>
constexpr Functions functions(bool counted) {
  return counted ? Functions{counted_reduce<type, padded>, counted_combine<type, padded>}
                 : Functions{reduce<type, padded>, combine<type, padded>};
}

template <std::size_t type>
void fill(Module& module, const Operation& operation, simd::Isa isa, bool counted) {
  const auto element = element_of(type);
  if (!element || ompi_op_base_functions[operation.row][type] == nullptr) return;
  module.last[type] = one_padded(operation.operation, *element);
  const Functions chosen =
      module.last[type] != nullptr ? functions<type, true>(counted) : functions<type, false>(counted);
  if (auto* const kernel = simd::reduce_kernel(operation.operation, *element, isa)) {
    module.reduce[type] = kernel;
    module.base.opm_fns[type] = chosen.reduce;
  }
  if (ompi_op_base_3buff_functions[operation.row][type] == nullptr) return;
  if (auto* const kernel = simd::combine_kernel(operation.operation, *element, isa)) {
    module.combine[type] = kernel;
    module.base.opm_3buff_fns[type] = chosen.combine;
  }
}

}  // namespace

void make_module(Module& module, const Operation& operation, simd::Isa isa, bool counted) {
  OBJ_CONSTRUCT(&module.base, ompi_op_base_module_t);
  // With each function of three buffers Open MPI 4.1 releases the module of the function of two in the same place,
  // which is this one by then, instead of the one that it replaces. So it gets more references than can be lost.
  for (std::size_t type = 0; type < type_count; ++type) OBJ_RETAIN(&module.base);
  [&]<std::size_t... types>(std::index_sequence<types...>) {
    (fill<types>(module, operation, isa, counted), ...);
  }(std::make_index_sequence<type_count>());
}

}  // namespace plait::shim::openmpi
