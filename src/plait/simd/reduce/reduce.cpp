#include "plait/simd/reduce/reduce.hpp"

#include <array>
#include <cstddef>

#include "plait/base/contract.hpp"
#include "plait/simd/reduce/reduce_families.hpp"
#include "plait/simd/reduce/reduce_reference.hpp"

namespace plait::simd {

namespace {

ReduceKernels find_kernels(ReduceOperation operation, Element element, Isa isa) {
  for (auto* family :
       {arithmetic_kernels, bitwise_kernels, logical_kernels, complex_kernels, float16_kernels, pairs_kernels}) {
    const ReduceKernels found = family(isa)(operation, element);
    if (found.reduce != nullptr) return found;
  }
  return reduce_reference(operation, element);
}

/// All kernels of all instruction sets that this machine has: finding one takes longer than a short reduction.
class Kernels {
 public:
  Kernels() {
    for (const Isa isa : supported_isas()) {
      for (const ReduceOperation operation : reduce_operations()) {
        for (const Element element : elements()) {
          kernels_[place(operation, element, isa)] = find_kernels(operation, element, isa);
        }
      }
    }
  }

  [[nodiscard]] const ReduceKernels& of(ReduceOperation operation, Element element, Isa isa) const {
    const ReduceKernels& kernels = kernels_[place(operation, element, isa)];
    PLAIT_ASSERT(kernels.reduce != nullptr || is_supported(isa), "kernels run on an instruction set of this machine");
    return kernels;
  }

 private:
  static std::size_t place(ReduceOperation operation, Element element, Isa isa) {
    const auto row = static_cast<std::size_t>(isa) * reduce_operation_count + static_cast<std::size_t>(operation);
    return row * element_count + static_cast<std::size_t>(element);
  }

  std::array<ReduceKernels, isas.size() * reduce_operation_count * element_count> kernels_{};
};

const ReduceKernels& kernels(ReduceOperation operation, Element element, Isa isa) {
  static const Kernels all;
  return all.of(operation, element, isa);
}

}  // namespace

std::string_view name(ReduceOperation operation) noexcept {
  switch (operation) {
    case ReduceOperation::max: return "max";
    case ReduceOperation::min: return "min";
    case ReduceOperation::sum: return "sum";
    case ReduceOperation::prod: return "prod";
    case ReduceOperation::band: return "band";
    case ReduceOperation::bor: return "bor";
    case ReduceOperation::bxor: return "bxor";
    case ReduceOperation::land: return "land";
    case ReduceOperation::lor: return "lor";
    case ReduceOperation::lxor: return "lxor";
    case ReduceOperation::maxloc: return "maxloc";
    case ReduceOperation::minloc: return "minloc";
    case ReduceOperation::replace: return "replace";
    case ReduceOperation::no_op: return "no_op";
  }
  return "unknown";
}

ReduceKernel* reduce_kernel(ReduceOperation operation, Element element, Isa isa) {
  return kernels(operation, element, isa).reduce;
}

CombineKernel* combine_kernel(ReduceOperation operation, Element element, Isa isa) {
  return kernels(operation, element, isa).combine;
}

}  // namespace plait::simd
