#include "capi/convert.hpp"

#include <array>
#include <string>

#include "plait/base/error.hpp"
#include "plait/simd/reduce/element_of.hpp"

#include "capi/handle.hpp"

namespace plait::capi {

void throw_other_type(plait_type type, std::initializer_list<plait_type> expected) {
  constexpr std::array names{"PLAIT_INT8",  "PLAIT_INT16",  "PLAIT_INT32",         "PLAIT_INT64",
                             "PLAIT_UINT8", "PLAIT_UINT16", "PLAIT_UINT32",        "PLAIT_UINT64",
                             "PLAIT_FLOAT", "PLAIT_DOUBLE", "PLAIT_COMPLEX_FLOAT", "PLAIT_COMPLEX_DOUBLE"};
  std::string text = "type: is " + std::to_string(type) + ", expected ";
  for (const plait_type* one = expected.begin(); one != expected.end(); ++one) {
    if (one != expected.begin()) text += one + 1 == expected.end() ? " or " : ", ";
    text += names[static_cast<std::size_t>(*one)];
  }
  throw ArgumentError(text);
}

StorageOrder storage_order(plait_order order, const char* argument) {
  if (order == PLAIT_COLUMN_MAJOR) return StorageOrder::column_major;
  if (order == PLAIT_ROW_MAJOR) return StorageOrder::row_major;
  throw ArgumentError(std::string(argument) + ": is " + std::to_string(order) +
                      ", expected PLAIT_COLUMN_MAJOR or PLAIT_ROW_MAJOR");
}

layout::GridOrder grid_order(plait_grid_order order) {
  if (order == PLAIT_GRID_BY_ROWS) return layout::GridOrder::row;
  if (order == PLAIT_GRID_BY_COLUMNS) return layout::GridOrder::column;
  throw ArgumentError("grid_order: is " + std::to_string(order) +
                      ", expected PLAIT_GRID_BY_ROWS or PLAIT_GRID_BY_COLUMNS");
}

redistribute::Op op(plait_op op) {
  switch (op) {
    case PLAIT_IDENTITY: return redistribute::Op::identity;
    case PLAIT_TRANSPOSE: return redistribute::Op::transpose;
    case PLAIT_CONJUGATE: return redistribute::Op::conjugate;
    case PLAIT_CONJUGATE_TRANSPOSE: return redistribute::Op::conjugate_transpose;
    default: break;
  }
  throw ArgumentError("op: is " + std::to_string(op) +
                      ", expected PLAIT_IDENTITY, PLAIT_TRANSPOSE, PLAIT_CONJUGATE or PLAIT_CONJUGATE_TRANSPOSE");
}

io::DType dtype(plait_type type) {
  static_assert(PLAIT_COMPLEX_DOUBLE == static_cast<int>(io::DType::c128), "both count alike");
  if (type >= PLAIT_INT8 && type <= PLAIT_COMPLEX_DOUBLE) return static_cast<io::DType>(type);
  throw ArgumentError("type: is " + std::to_string(type) + ", expected PLAIT_INT8 to PLAIT_COMPLEX_DOUBLE");
}

simd::Element element(plait_type type) {
  using simd::Element;
  static_assert(PLAIT_BOOL == static_cast<int>(Element::boolean), "both count alike from here on");
  static_assert(PLAIT_DOUBLE_DOUBLE == static_cast<int>(Element::double_double));
  if (type >= PLAIT_BOOL && type <= PLAIT_DOUBLE_DOUBLE) return static_cast<Element>(type);
  switch (type) {
    case PLAIT_FLOAT16: return Element::float16;
    case PLAIT_BFLOAT16: return Element::bfloat16;
    case PLAIT_LONG_DOUBLE: return Element::long_double;
    default: break;
  }
  if (type >= PLAIT_INT8 && type <= PLAIT_COMPLEX_DOUBLE) {
    return io::with_dtype(dtype(type), []<class T>() { return simd::element_of<T>(); });
  }
  throw ArgumentError("type: is " + std::to_string(type) + ", expected PLAIT_INT8 to PLAIT_DOUBLE_DOUBLE");
}

redistribute::MatrixPair matrix_pair(const plait_pair& pair) {
  return {expect_handle(pair.from, "from").layout, expect_handle(pair.to, "to").layout, op(pair.op)};
}

}  // namespace plait::capi
