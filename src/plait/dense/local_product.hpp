#pragma once

#include <cstddef>

#include "plait/base/index.hpp"
#include "plait/dense/element.hpp"
#include "plait/simd/element.hpp"

namespace plait::dense {

/// C ← A·B or C ← C + A·B for local matrices: A rows × terms and C rows × columns by columns, B terms × columns by
/// rows.
struct LocalProduct {
  Index rows, columns, terms;
  const std::byte* a;
  Index a_stride;  // from column to column, in elements
  const std::byte* b;
  Index b_stride;  // from row to row
  std::byte* c;
  Index c_stride;
  bool adds;  // to what C holds
};

/// What the builder of a graph has to know of a type of elements.
struct ElementKind {
  simd::Element element;
  Index bytes;
  void (*multiply)(const LocalProduct& product);
  double flops;  // of a multiplication and an addition
};

template <Element T>
[[nodiscard]] ElementKind element_kind();

}  // namespace plait::dense
