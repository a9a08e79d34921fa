#include "plait/dense/factors.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::dense {

ProductShape Factors::product_shape() const {
  const layout::Shape left = redistribute::apply(op_a, a.shape());
  const layout::Shape right = redistribute::apply(op_b, b.shape());
  if (left.columns != right.rows) {
    throw ShapeMismatch(fmt::format("op(A) is {} x {}, op(B) is {} x {}: there have to be as many columns as rows",
                                    left.rows, left.columns, right.rows, right.columns));
  }
  return {left.rows, right.columns, left.columns};
}

layout::Layout as_it_is_read(const layout::Layout& layout, Op op) {
  return redistribute::transposes(op) ? layout.transposed() : layout;
}

}  // namespace plait::dense
