#include "shim/openmpi/module.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

#include "plait/simd/reduce/reduce_element.hpp"

namespace plait::shim::openmpi {

namespace {

static_assert(std::is_standard_layout_v<Module>, "a module is found by the address of its first member");

template <class Pair, bool maximum>
void take_better(Index i, const void* in, void* inout) noexcept {
  const Pair& first = static_cast<const Pair*>(in)[i];
  Pair& result = static_cast<Pair*>(inout)[i];
  const bool better = maximum ? first.value > result.value : first.value < result.value;
  if (!better && !(first.value == result.value && first.index < result.index)) return;
  result.value = first.value;
  result.index = first.index;
}

template <class T>
constexpr bool ends_in_padding() {
  if constexpr (simd::is_pair<T>) return sizeof(T) > offsetof(T, index) + sizeof(T::index);
  return false;
}

// Null for elements that don't end in padding, and for those that the operation is not defined on.
OneOf* one_padded(simd::ReduceOperation operation, simd::Element element) noexcept {
  const bool is_maximum = operation == simd::ReduceOperation::maxloc;
  if (!is_maximum && operation != simd::ReduceOperation::minloc) return nullptr;
  return simd::with_type_of(element, [&]<class T>() -> OneOf* {
    if constexpr (ends_in_padding<T>()) return is_maximum ? take_better<T, true> : take_better<T, false>;
    return nullptr;
  });
}

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
    module.last[type](n, in, inout);
  }
  module.reduce[type_of<type>(datatype)](n, in, inout);
}

template <std::size_t type>
void combine(const void* a, const void* b, void* out, int* count, ompi_datatype_t** datatype,
             ompi_op_base_module_t* base) noexcept {
  module_at(base).combine[type_of<type>(datatype)](*count, a, b, out);
}

template <std::size_t type, bool padded>
void counted_reduce(const void* in, void* inout, int* count, ompi_datatype_t** datatype,
                    ompi_op_base_module_t* module) noexcept {
  module_at(module).counts[type_of<type>(datatype)].add(*count);
  reduce<type, padded>(in, inout, count, datatype, module);
}

template <std::size_t type>
void counted_combine(const void* a, const void* b, void* out, int* count, ompi_datatype_t** datatype,
                     ompi_op_base_module_t* module) noexcept {
  module_at(module).counts[type_of<type>(datatype)].add(*count);
  combine<type>(a, b, out, count, datatype, module);
}

template <std::size_t type>
void fill(Module& module, const Operation& operation, simd::Isa isa, bool counted) {
  const auto element = element_of(type);
  if (!element || ompi_op_base_functions[operation.row][type] == nullptr) return;
  module.last[type] = one_padded(operation.operation, *element);
  if (auto* const kernel = simd::reduce_kernel(operation.operation, *element, isa)) {
    module.reduce[type] = kernel;
    if (module.last[type] != nullptr) {
      module.base.opm_fns[type] = counted ? counted_reduce<type, true> : reduce<type, true>;
    } else {
      module.base.opm_fns[type] = counted ? counted_reduce<type, false> : reduce<type, false>;
    }
  }
  // With three buffers, a kernel would write padding that it did not find there: Open MPI's own functions don't.
  if (ompi_op_base_3buff_functions[operation.row][type] == nullptr || is_padded(*element)) return;
  if (auto* const kernel = simd::combine_kernel(operation.operation, *element, isa)) {
    module.combine[type] = kernel;
    module.base.opm_3buff_fns[type] = counted ? counted_combine<type> : combine<type>;
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
