#include "plait/schedule/combine.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/predefined.hpp"

namespace plait::schedule {

namespace {

constexpr Index combined_block_bytes = Index{8} << 10;

}  // namespace

Combine::Combine(simd::ReduceOperation operation, simd::Element element, simd::Isa isa)
    : kernel_(simd::combine_kernel(operation, element, isa)),
      element_bytes_(simd::size_in_bytes(element)),
      name_{static_cast<unsigned char>(operation), static_cast<unsigned char>(element)} {
  if (kernel_ == nullptr) {
    throw ArgumentError("operation: " + std::string(simd::name(operation)) + " of " + std::string(simd::name(element)) +
                        ", expected one that MPI defines on such elements");
  }
}

Combine::Combine(const mpi::Reduction& reduction)
    : operation_(reduction.operation), type_(reduction.type), element_bytes_(reduction.element_bytes) {
  if (const auto known = mpi::predefined_reduction(operation_, type_)) {
    kernel_ = simd::combine_kernel(known->operation, known->element, simd::selected_isa());
    name_ = {static_cast<unsigned char>(known->operation), static_cast<unsigned char>(known->element)};
  }
  if (kernel_ != nullptr) return;
  commutes_ = mpi::commutes(operation_);
  may_throw_ = true;
}

Combine Combine::reproducible_sum(simd::Element element, simd::Isa isa) {
  simd::ReproducibleSumKernel* const kernel = simd::reproducible_sum_kernel(element, isa);
  if (kernel == nullptr) {
    throw ArgumentError("element: " + std::string(simd::name(element)) +
                        ", expected a real or complex number of 32 or 64 bits a part, for a reproducible sum");
  }
  return {kernel, element};
}

static_assert(simd::reduce_operation_count <= 14 && simd::element_count <= 31, "the other numbers have a meaning");

std::string_view Combine::Name::operation_text() const noexcept {
  if (operation == exact_sum) return "exact sum";
  return operation == own ? "a caller's own" : simd::name(static_cast<simd::ReduceOperation>(operation));
}

std::string_view Combine::Name::element_text() const noexcept {
  return element == own_element ? "a caller's own" : simd::name(static_cast<simd::Element>(element));
}

void Combine::name_arguments(mpi::Alike& arguments, Index number) const {
  arguments.add("element type", name_.element_text(), number);
  arguments.add("element_bytes", element_bytes_, number);
  arguments.add("combined by", name_.operation_text(), number);
  arguments.add("in any order", commutes(), number);
}

std::optional<mpi::Reduction> Combine::of_mpi() const noexcept {
  if (operation_ == MPI_OP_NULL) return std::nullopt;
  return mpi::Reduction{operation_, type_, element_bytes_};
}

// MPI has only b ← a op b.
void Combine::by_mpi(Index n, const void* a, const void* b, void* out) const {
  const mpi::Reduction reduction{operation_, type_, element_bytes_};
  const auto* const left = static_cast<const std::byte*>(a);
  const auto* const right = static_cast<const std::byte*>(b);
  auto* const result = static_cast<std::byte*>(out);
  if (out != a || out == b) {
    if (out != b && n > 0) std::memcpy(result, right, static_cast<std::size_t>(n * element_bytes_));
    return mpi::reduce_local(left, result, n * element_bytes_, reduction);
  }
  std::vector<std::byte> block(static_cast<std::size_t>(std::max(combined_block_bytes, element_bytes_)));
  const Index most = std::max<Index>(combined_block_bytes / element_bytes_, 1) * element_bytes_;
  for (Index done = 0; done < n * element_bytes_; done += most) {
    const Index bytes = std::min(most, n * element_bytes_ - done);
    std::memcpy(block.data(), right + done, static_cast<std::size_t>(bytes));
    mpi::reduce_local(left + done, block.data(), bytes, reduction);
    std::memcpy(result + done, block.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace plait::schedule
