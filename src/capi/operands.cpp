#include "capi/operands.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/matrix_view.hpp"

#include "capi/arguments.hpp"
#include "capi/convert.hpp"

namespace plait::capi {

namespace {

using layout::TileExtent;
using redistribute::Operands;

template <class T>
T scalar(const void* given, T otherwise) {
  if (given != nullptr) std::memcpy(&otherwise, given, sizeof(T));
  return otherwise;
}

/// \throws ArgumentError  if the columns (rows) of a tile overlap, or its last element has no address
void expect_leading_dimension(Index given, Index minor, Index major, Index element_bytes, const std::string& tile) {
  Index bytes = 0;
  if (given >= std::max(Index{1}, minor) && !__builtin_mul_overflow(given, major, &bytes) &&
      !__builtin_mul_overflow(bytes, element_bytes, &bytes)) {
    return;
  }
  throw ArgumentError(tile + ": leading_dimension is " + std::to_string(given) + ", expected at least " +
                      std::to_string(std::max(Index{1}, minor)) + ", and a tile of less than 2^63 bytes");
}

/// The given tiles as views; that they have memory is checked where all views are.
template <class View, class GivenTile>
std::vector<View> views(std::span<const GivenTile> given, std::span<const TileExtent> planned, Index element_bytes,
                        const char* which) {
  if (given.size() != planned.size()) {
    throw ShapeMismatch(std::string(which) + ": has " + std::to_string(given.size()) + " tiles, expected " +
                        std::to_string(planned.size()) + ", as this rank has in the layout");
  }
  std::vector<View> result;
  result.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string tile = std::string(which) + " tile " + std::to_string(i);
    const auto& [position, rows, columns] = planned[i];
    const StorageOrder order = storage_order(given[i].order, (tile + ": order").c_str());
    const Index minor = order == StorageOrder::column_major ? rows : columns;
    const Index major = order == StorageOrder::column_major ? columns : rows;
    const bool empty = rows == 0 || columns == 0;
    if (!empty) expect_leading_dimension(given[i].leading_dimension, minor, major, element_bytes, tile);
    using Element = std::remove_pointer_t<decltype(View().data())>;
    result.emplace_back(static_cast<Element*>(given[i].data), rows, columns,
                        empty ? std::max(Index{1}, minor) : given[i].leading_dimension, order);
  }
  return result;
}

Operands operands_of(const plait_operands& given, const plait_plan::Tiles& planned) {
  return io::with_dtype(dtype(given.type), [&]<class T>() {
    const T alpha = scalar(given.alpha, T{1});
    std::vector<matrix_view<const T>> source;
    if (alpha != T{0}) {
      source = views<matrix_view<const T>>(expect_array(given.source, given.source_count, "source"), planned.source,
                                           Index{sizeof(T)}, "source");
    }
    const auto target = views<matrix_view<T>>(
        std::span<const plait_target_tile>(expect_array(given.target, given.target_count, "target")), planned.target,
        Index{sizeof(T)}, "target");
    return Operands(alpha, source, scalar(given.beta, T{0}), std::span<const matrix_view<T>>(target));
  });
}

}  // namespace

std::vector<Operands> operands_of(const plait_plan& plan, const plait_operands* operands, Index count) {
  const auto given = expect_array(operands, count, "operands");
  if (given.size() != plan.tiles.size()) {
    throw ArgumentError("count: is " + std::to_string(count) + ", expected one for each of the " +
                        std::to_string(plan.tiles.size()) + " pairs of the plan");
  }
  std::vector<Operands> result;
  result.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    result.push_back(named_pair(i, count, [&] { return operands_of(given[i], plan.tiles[i]); }));
  }
  return result;
}

}  // namespace plait::capi
