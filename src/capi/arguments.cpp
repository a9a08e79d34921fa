#include "capi/arguments.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "plait/simd/reduce/element_of.hpp"

namespace plait::capi {

void throw_other_type(plait_type type, bool (*is_expected)(DType)) {
  constexpr std::array names{"PLAIT_INT8",  "PLAIT_INT16",  "PLAIT_INT32",         "PLAIT_INT64",
                             "PLAIT_UINT8", "PLAIT_UINT16", "PLAIT_UINT32",        "PLAIT_UINT64",
                             "PLAIT_FLOAT", "PLAIT_DOUBLE", "PLAIT_COMPLEX_FLOAT", "PLAIT_COMPLEX_DOUBLE"};
  std::vector<const char*> expected;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_expected(static_cast<DType>(i))) expected.push_back(names[i]);
  }
  std::string text = "type: is " + std::to_string(type) + ", expected " + expected[0];
  if (expected.size() == names.size()) throw ArgumentError(text + " to " + expected.back());
  for (std::size_t i = 1; i < expected.size(); ++i) {
    text += std::string(i + 1 == expected.size() ? " or " : ", ") + expected[i];
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
    return with_dtype(dtype(type), []<class T>() { return simd::element_of<T>(); });
  }
  throw ArgumentError("type: is " + std::to_string(type) + ", expected PLAIT_INT8 to PLAIT_DOUBLE_DOUBLE");
}

void expect_leading_dimension(Index given, Index minor, Index major, Index element_bytes, const std::string& tile) {
  Index bytes = 0;
  if (given >= std::max(Index{1}, minor) && !__builtin_mul_overflow(given, major, &bytes) &&
      !__builtin_mul_overflow(bytes, element_bytes, &bytes)) {
    return;
  }
  throw ArgumentError(tile + ": leading_dimension is " + std::to_string(given) + ", expected at least " +
                      std::to_string(std::max(Index{1}, minor)) + ", and a tile of less than 2^63 bytes");
}

template <class GivenTile>
redistribute::TileList tile_list(const GivenTile* tiles, Index count, std::span<const layout::TileExtent> planned,
                                 const char* which, Index element_bytes) {
  const std::span<const GivenTile> given = expect_array(tiles, count, which);
  if (given.size() != planned.size()) {
    throw ShapeMismatch(std::string(which) + ": has " + std::to_string(given.size()) + " tiles, expected " +
                        std::to_string(planned.size()) + ", as this rank has in the layout");
  }
  redistribute::TileList result;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string tile = std::string(which) + " tile " + std::to_string(i);
    const auto& [position, rows, columns] = planned[i];
    const StorageOrder order = storage_order(given[i].order, (tile + ": order").c_str());
    const Index minor = order == StorageOrder::column_major ? rows : columns;
    const Index major = order == StorageOrder::column_major ? columns : rows;
    const bool empty = rows == 0 || columns == 0;
    if (!empty) {
      expect_leading_dimension(given[i].leading_dimension, minor, major, element_bytes, tile);
      expect_array(given[i].data, minor * major, (tile + ": data").c_str());
    }
    auto* const data = static_cast<std::byte*>(const_cast<void*>(static_cast<const void*>(given[i].data)));
    result.add({{data, empty ? std::max(Index{1}, minor) : given[i].leading_dimension, order}, minor, major});
  }
  return result;
}
template redistribute::TileList tile_list(const plait_source_tile*, Index, std::span<const layout::TileExtent>,
                                          const char*, Index);
template redistribute::TileList tile_list(const plait_target_tile*, Index, std::span<const layout::TileExtent>,
                                          const char*, Index);

}  // namespace plait::capi

const void* plait_array_with_gaps() {
  static const char anywhere = 0;
  return &anywhere;
}
