#include "cli/pictures/plane.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plait::cli {

namespace {

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

Plane::Plane(std::vector<double> points, std::size_t coordinates) : mean_(coordinates) {
  axes_.fill(std::vector<double>(coordinates));
  for (std::size_t k = 0; k < std::min<std::size_t>(coordinates, 2); ++k) axes_[k][k] = 1;
  if (coordinates <= 2 || points.empty()) return;
  const double count = static_cast<double>(points.size()) / static_cast<double>(coordinates);
  for (std::size_t p = 0; p < points.size(); ++p) mean_[p % coordinates] += points[p] / count;
  double largest = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    points[p] -= mean_[p % coordinates];
    largest = std::max(largest, std::abs(points[p]));
  }
  if (largest == 0) return;
  for (double& each : points) each /= largest;
  find_axes(points);
  double along = 0;
  for (std::size_t at = 0; at < points.size(); at += coordinates) {
    const auto point = std::span(points).subspan(at, coordinates);
    for (const auto& axis : axes_) along += std::pow(product(point, axis), 2);
  }
  shown_ = along / product(points, points);
}

std::pair<double, double> Plane::place(std::span<const double> point) const {
  std::vector<double> offset(point.begin(), point.end());
  for (std::size_t k = 0; k < offset.size(); ++k) offset[k] -= mean_[k];
  return {product(offset, axes_[0]), product(offset, axes_[1])};
}

/// Orthogonal iteration with the covariance of points about 0, which is never stored.
void Plane::find_axes(std::span<const double> points) {
  const std::size_t coordinates = mean_.size();
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t k = 0; k < coordinates; ++k) axes_[a][k] = std::cos(static_cast<double>((a + 1) * (k + 1)));
  }
  constexpr int iterations = 60;
  for (int n = 0; n < iterations; ++n) {
    std::array<std::vector<double>, 2> next;
    next.fill(std::vector<double>(coordinates));
    for (std::size_t at = 0; at < points.size(); at += coordinates) {
      const auto point = points.subspan(at, coordinates);
      for (std::size_t a = 0; a < 2; ++a) {
        const double along = product(point, axes_[a]);
        for (std::size_t k = 0; k < coordinates; ++k) next[a][k] += along * point[k];
      }
    }
    const auto normalise = [](std::vector<double>& axis) {
      const double length = std::sqrt(product(axis, axis));
      for (double& each : axis) each = length > 0 ? each / length : 0;
    };
    normalise(next[0]);
    const double along = product(next[0], next[1]);
    for (std::size_t k = 0; k < coordinates; ++k) next[1][k] -= along * next[0][k];
    normalise(next[1]);
    axes_ = std::move(next);
  }
}

std::array<PlotAxis, 2> plane_axes(std::size_t coordinates, const std::array<double, 4>& box) {
  const bool is_plane = coordinates <= 2;
  constexpr double aspect = 1.31;  // of the plot's axes
  const auto x = axis_around({}, Scale::linear, box[0], box[1], 0);
  const auto y = axis_around({}, Scale::linear, box[2], box[3], 0);
  const bool is_point = box[0] == box[1] && box[2] == box[3];
  const double width = std::max(box[0] < box[1] || is_point ? x.high - x.low : 0,
                                box[2] < box[3] || is_point ? (y.high - y.low) * aspect : 0);
  return {
      axis_around(is_plane ? "coordinate 0" : "first principal axis", Scale::linear, box[0], box[1], width),
      axis_around(is_plane ? "coordinate 1" : "second principal axis", Scale::linear, box[2], box[3], width / aspect)};
}

}  // namespace plait::cli
