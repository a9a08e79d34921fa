#include "shim/reduce/kernels.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>

#include "plait/mpi/predefined.hpp"

#include "shim/own_rank.hpp"
#include "shim/settings.hpp"

namespace plait::shim::reduce {

namespace {

using schedule::Combine;

/// Something for each operation on each kind of element.
template <class T>
using Table = std::array<std::array<T, simd::element_count>, simd::reduce_operation_count>;

template <class T>
const T& at(const Table<T>& table, const mpi::PredefinedReduction& reduction) noexcept {
  return table[static_cast<std::size_t>(reduction.operation)][static_cast<std::size_t>(reduction.element)];
}

// `make` is asked only where there is a kernel.
template <class T, class Make>
Table<T> table_of(Make&& make) noexcept {
  const simd::Isa isa = isa_of_program();
  Table<T> table{};
  for (const simd::ReduceOperation operation : simd::reduce_operations()) {
    for (const simd::Element element : simd::elements()) {
      if (simd::reduce_kernel(operation, element, isa) == nullptr) continue;
      table[static_cast<std::size_t>(operation)][static_cast<std::size_t>(element)] = make(operation, element, isa);
    }
  }
  return table;
}

simd::ReduceKernel* kernel_of(const mpi::PredefinedReduction& reduction) noexcept {
  static const auto kernels =
      table_of<simd::ReduceKernel*>([](simd::ReduceOperation operation, simd::Element element, simd::Isa isa) {
        return simd::reduce_kernel(operation, element, isa);
      });
  return at(kernels, reduction);
}

const Combine* combine_of(const mpi::PredefinedReduction& reduction) noexcept {
  static const auto combines =
      table_of<std::optional<Combine>>([](simd::ReduceOperation operation, simd::Element element, simd::Isa isa) {
        return Combine(operation, element, isa);
      });
  const std::optional<Combine>& combine = at(combines, reduction);
  return combine ? &*combine : nullptr;
}

const Combine* exact_sum_of(const mpi::PredefinedReduction& reduction) noexcept {
  static const auto sums = [] {
    const simd::Isa isa = isa_of_program();
    std::array<std::optional<Combine>, simd::element_count> made;
    for (const simd::Element element : simd::elements()) {
      if (simd::reproducible_sum_kernel(element, isa) == nullptr) continue;
      made[static_cast<std::size_t>(element)] = Combine::reproducible_sum(element, isa);
    }
    return made;
  }();
  if (reduction.operation != simd::ReduceOperation::sum) return nullptr;
  const std::optional<Combine>& sum = sums[static_cast<std::size_t>(reduction.element)];
  return sum ? &*sum : nullptr;
}

bool is_rounded(simd::Element element) noexcept {
  switch (element) {
    case simd::Element::float16:
    case simd::Element::bfloat16:
    case simd::Element::float32:
    case simd::Element::float64:
    case simd::Element::long_double:
    case simd::Element::complex64:
    case simd::Element::complex128: return true;
    default: return false;
  }
}

bool depends_on_order(const mpi::PredefinedReduction& reduction) noexcept {
  const bool rounds =
      reduction.operation == simd::ReduceOperation::sum || reduction.operation == simd::ReduceOperation::prod;
  return rounds && is_rounded(reduction.element);
}

bool read_reproducible_setting() noexcept {
  const ReproducibleSetting setting = reproducible_setting();
  OwnRank rank;
  rank.learn();
  if (rank.is_zero()) std::fputs(setting.complaint.c_str(), stderr);
  return setting.is_wanted;
}

}  // namespace

simd::Isa isa_of_program() noexcept {
  static const simd::Isa isa = [] {
    OwnRank rank;
    rank.learn();
    return shim::isa_of_program(rank.is_zero());
  }();
  return isa;
}

bool is_reproducible_wanted() noexcept {
  static const bool wanted = read_reproducible_setting();
  return wanted;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local constinit detail::Remembered detail::last{};

const Combining* detail::find_combining(MPI_Op operation, MPI_Datatype type) noexcept {
  const auto reduction = mpi::predefined_reduction(operation, type);
  const Combine* const combine = reduction ? combine_of(*reduction) : nullptr;
  if (combine == nullptr) return nullptr;
  const bool is_padded = simd::is_padded(reduction->element);
  last = {operation,
          type,
          {kernel_of(*reduction), combine, exact_sum_of(*reduction), depends_on_order(*reduction),
           is_padded ? std::optional(reduction->element) : std::nullopt}};
  return &last.combining;
}

}  // namespace plait::shim::reduce
