#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "plait/base/index.hpp"
#include "plait/simd/exact/exact_sum.hpp"

namespace plait::simd {

/// Arrays that are summed up element by element.
using Operands = std::span<const std::byte* const>;

/// Element i of an operand.
template <class T>
[[nodiscard]] const T* element_at(const std::byte* operand, Index i) {
  return reinterpret_cast<const T*>(operand) + i;
}

/// The exact sum of elements i, rounded once.
template <class T>
[[nodiscard]] T exact_element(Index i, Operands operands) {
  ExactSum sum;
  for (const std::byte* operand : operands) {
    T addend;
    std::memcpy(&addend, element_at<T>(operand, i), sizeof addend);
    sum.add(double{addend});
  }
  return sum.rounded<T>();
}

}  // namespace plait::simd
