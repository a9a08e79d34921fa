#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "cli/pictures/matrix_picture.hpp"

namespace plait::cli {

/// Numbers on a regular grid of one to three dimensions, as a page shows them: a curve, a picture, or a picture of the
/// middle slice of axis 0. They come in any order, on whichever rank has them.
class FieldPicture {
 public:
  FieldPicture() = default;
  /// \param spacing  of points, for each axis; empty: 1
  explicit FieldPicture(std::span<const Index> extents, std::span<const double> spacing = {});

  /// \param place  axes that the grid has not stand in front, and have point 0 alone
  void add(const std::array<Index, 3>& place, double number);
  /// Of points from `first` on, those of the last axis one after the other.
  void add_all(Index first, std::span<const double> numbers);
  /// What all ranks have added, on each of them. Collective over `context`.
  void unite(const mpi::Context& context) { picture_.unite(context); }

  /// A section of a page.
  ///
  /// \param what  the numbers are: "u"
  [[nodiscard]] std::string figure(const std::string& what) const;

 private:
  [[nodiscard]] std::string curve(const std::string& what) const;

  int dimensions_ = 0;
  std::array<Index, 3> extents_{1, 1, 1};  // those that there are behind the others
  std::array<double, 3> spacing_{1, 1, 1};
  MatrixPicture picture_;  // a column of a curve
};

}  // namespace plait::cli
