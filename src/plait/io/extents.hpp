#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/shape.hpp"

/// Arrays of one to three dimensions, which files can hold beside matrices.
namespace plait::io {

/// How many dimensions arrays may have that are read.
struct Dimensions {
  int least, most;
  [[nodiscard]] constexpr bool contain(std::size_t number) const noexcept {
    return number >= static_cast<std::size_t>(least) && number <= static_cast<std::size_t>(most);
  }
};
inline constexpr Dimensions matrices{2, 2};
inline constexpr Dimensions columns{1, 2};  ///< of numbers: an array of one dimension is n × 1
inline constexpr Dimensions arrays{1, 3};

/// The extents of an array, in the order of its indices.
struct Extents {
  int dimensions = 0;
  std::array<Index, 3> values{};

  [[nodiscard]] static constexpr Extents of(layout::Shape shape) noexcept { return {2, {shape.rows, shape.columns}}; }
  [[nodiscard]] constexpr std::span<const Index> list() const noexcept {
    return std::span(values).first(static_cast<std::size_t>(dimensions));
  }
  /// The matrix that lies in memory as the array does: its slices along the slowest axis are rows or, in Fortran order,
  /// columns. An array of one dimension is n × 1.
  ///
  /// \pre  there are dimensions, and no negative extents
  /// \throws LayoutError  if the number of elements does not fit an Index
  [[nodiscard]] layout::Shape as_matrix(StorageOrder order) const;
  friend bool operator==(const Extents&, const Extents&) = default;
};

/// "100 x 50 x 20"
[[nodiscard]] std::string to_string(const Extents& extents);

}  // namespace plait::io
