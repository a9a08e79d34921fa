#pragma once

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::dense {

/// The sizes of a product: C is rows × columns, and each of its elements a sum of so many terms. (BLAS' m, n, k.)
struct ProductShape {
  Index rows = 0;
  Index columns = 0;
  Index terms = 0;
  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

/// The fewest elements that the busiest of so many ranks receives, whatever the algorithm, however much memory there
/// is, when A, B and C are spread evenly: 0 for one rank. Three cases, as one, two or three of the matrices have to
/// move.
///
/// Source: Al Daas, Ballard, Grigori, Kumar, Rouse, "Tight memory-independent parallel matrix multiplication
/// communication lower bounds", 2022, Theorem 3.
[[nodiscard]] double least_elements_received(const ProductShape& shape, int ranks);

using redistribute::Op;

/// Where the factors of a product lie, and what is done to them.
struct Factors {
  layout::Layout a;
  layout::Layout b;
  Op op_a = Op::identity;
  Op op_b = Op::identity;

  /// \throws ShapeMismatch  op(A) has not as many columns as op(B) has rows
  [[nodiscard]] ProductShape product_shape() const;
};

/// A matrix's layout as that of op of it: the same tiles, read the other way round if op transposes.
[[nodiscard]] layout::Layout as_it_is_read(const layout::Layout& layout, Op op);

}  // namespace plait::dense
