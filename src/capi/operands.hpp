#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/operands.hpp"

#include "capi/arguments.hpp"
#include "capi/convert.hpp"
#include "capi/handle.hpp"
#include "capi/plait.h"

namespace plait::capi {

/// The element that C points to, or what NULL stands for.
template <class T>
T scalar(const void* given, T otherwise) {
  if (given != nullptr) std::memcpy(&otherwise, given, sizeof(T));
  return otherwise;
}

/// \throws ArgumentError  if the columns (rows) of a tile overlap, or its last element has no address
void expect_leading_dimension(Index given, Index minor, Index major, Index element_bytes, const std::string& tile);

/// The given tiles, those of the matrix `which`, as views of T.
///
/// \throws ArgumentError, ShapeMismatch  naming the tile
template <class T, class GivenTile>
std::vector<matrix_view<T>> views(const GivenTile* tiles, Index count, std::span<const layout::TileExtent> planned,
                                  const char* which) {
  const std::span<const GivenTile> given = expect_array(tiles, count, which);
  if (given.size() != planned.size()) {
    throw ShapeMismatch(std::string(which) + ": has " + std::to_string(given.size()) + " tiles, expected " +
                        std::to_string(planned.size()) + ", as this rank has in the layout");
  }
  std::vector<matrix_view<T>> result;
  result.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string tile = std::string(which) + " tile " + std::to_string(i);
    const auto& [position, rows, columns] = planned[i];
    const StorageOrder order = storage_order(given[i].order, (tile + ": order").c_str());
    const Index minor = order == StorageOrder::column_major ? rows : columns;
    const Index major = order == StorageOrder::column_major ? columns : rows;
    const bool empty = rows == 0 || columns == 0;
    if (!empty) {
      expect_leading_dimension(given[i].leading_dimension, minor, major, Index{sizeof(T)}, tile);
      expect_array(given[i].data, minor * major, (tile + ": data").c_str());
    }
    result.emplace_back(static_cast<T*>(given[i].data), rows, columns,
                        empty ? std::max(Index{1}, minor) : given[i].leading_dimension, order);
  }
  return result;
}

/// What C gave to an execution as what C++ takes, checked as far as one rank can.
///
/// \throws ArgumentError, ShapeMismatch  naming the pair, if there are several
[[nodiscard]] std::vector<redistribute::Operands> operands_of(const plait_plan& plan, const plait_operands* operands,
                                                              Index count);

}  // namespace plait::capi
