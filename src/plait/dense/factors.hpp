#pragma once

#include "plait/dense/product.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::dense {

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
