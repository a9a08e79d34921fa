#pragma once

#include <array>
#include <cstddef>

#include "cli/pictures/axis_plot.hpp"

namespace plait::cli {

/// The plane in which points are drawn: that of their coordinates, or of the two axes along which they differ most.
class Plane {
 public:
  /// \param points  coordinates, point by point
  Plane(std::vector<double> points, std::size_t coordinates);

  [[nodiscard]] std::pair<double, double> place(std::span<const double> point) const;
  /// The part of the points' variance that is along its axes.
  [[nodiscard]] double shown() const { return shown_; }

 private:
  void find_axes(std::span<const double> points);

  std::vector<double> mean_;
  std::array<std::vector<double>, 2> axes_;
  double shown_ = 1;
};

/// Axes of a plot of points with so many coordinates in a box of their plane: left, right, low, high. Lengths are the
/// same along both, as it is `plane_height` high.
constexpr int plane_height = 480;
[[nodiscard]] std::array<PlotAxis, 2> plane_axes(std::size_t coordinates, const std::array<double, 4>& box);

}  // namespace plait::cli
