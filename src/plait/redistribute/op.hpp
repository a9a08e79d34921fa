#pragma once

#include "plait/layout/shape.hpp"

namespace plait::redistribute {

/// What is done to a matrix on its way: op(B)(i, j) is B(i, j), B(j, i), or the conjugate of one of them. For real and
/// integer types conjugation does nothing.
enum class Op : unsigned char { identity, transpose, conjugate, conjugate_transpose };

[[nodiscard]] constexpr bool transposes(Op op) noexcept { return op == Op::transpose || op == Op::conjugate_transpose; }
[[nodiscard]] constexpr bool conjugates(Op op) noexcept { return op == Op::conjugate || op == Op::conjugate_transpose; }

[[nodiscard]] constexpr const char* to_string(Op op) noexcept {
  switch (op) {
    case Op::identity: return "identity";
    case Op::transpose: return "transpose";
    case Op::conjugate: return "conjugate";
    case Op::conjugate_transpose: break;
  }
  return "conjugate-transpose";
}

/// The shape of op(B) for B of the given shape.
[[nodiscard]] constexpr layout::Shape apply(Op op, layout::Shape shape) noexcept {
  return transposes(op) ? layout::Shape{shape.columns, shape.rows} : shape;
}

}  // namespace plait::redistribute
