#include "plait/layout/shape.hpp"

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::layout {

std::string to_string(Shape shape) { return fmt::format("{} x {}", shape.rows, shape.columns); }

Index elements(Shape shape) {
  PLAIT_ASSERT(shape.rows >= 0 && shape.columns >= 0, "a matrix has no negative extent");
  Index product = 0;
  if (__builtin_mul_overflow(shape.rows, shape.columns, &product)) {
    throw LayoutError(fmt::format("{} elements are more than can be counted (2^63 - 1)", to_string(shape)));
  }
  return product;
}

}  // namespace plait::layout
