#include "cli/pictures/field_picture.hpp"

#include <fmt/format.h>

#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

constexpr Index cells_of_curve = 1024;  // a pixel has more than one: points that share a cell do not bend it

}  // namespace

FieldPicture::FieldPicture(std::span<const Index> extents, std::span<const double> spacing)
    : dimensions_(static_cast<int>(extents.size())) {
  std::ranges::copy_backward(extents, extents_.end());
  std::ranges::copy_backward(spacing, spacing_.end());
  constexpr auto scale = MatrixPicture::Scale::linear;
  picture_ = dimensions_ == 1 ? MatrixPicture({extents_[2], 1}, scale, cells_of_curve)
                              : MatrixPicture({extents_[1], extents_[2]}, scale);
}

void FieldPicture::add(const std::array<Index, 3>& place, double number) {
  if (dimensions_ == 1) return picture_.add(place[2], 0, number);
  if (place[0] == extents_[0] / 2) picture_.add(place[1], place[2], number);
}

void FieldPicture::add_all(Index first, std::span<const double> numbers) {
  for (const double number : numbers) {
    const Index row = first / extents_[2];
    add({row / extents_[1], row % extents_[1], first++ % extents_[2]}, number);
  }
}

std::string FieldPicture::figure(const std::string& what) const {
  const std::string title = dimensions_ == 3 ? fmt::format("{} in slice {} of axis 0", what, extents_[0] / 2) : what;
  const std::string heading = fmt::format("<h2>{}</h2>\n", svg::escaped(title));
  if (dimensions_ == 1) return heading + curve(what);
  const int down = dimensions_ - 2, across = dimensions_ - 1;
  const std::string names[] = {fmt::format("axis {}", down), fmt::format("axis {}", across)};
  return heading + drawn(picture_, what, {.down = names[0], .across = names[1]}, spacing_[1] / spacing_[2]) +
         fmt::format("<p class=\"soft\">Points are {:.4g} apart on axis {} and {:.4g} on axis {}.</p>\n", spacing_[1],
                     down, spacing_[2], across);
}

std::string FieldPicture::curve(const std::string& what) const {
  std::vector<AxisPlot::Point> values;
  std::vector<double> heights;
  for (Index cell = 0; cell < picture_.cells().rows; ++cell) {
    values.push_back({static_cast<double>(picture_.first_row(cell)), picture_.number(cell, 0)});
    heights.push_back(values.back().y);
  }
  AxisPlot plot({"point, counted from 0", Scale::counts, 0, std::max(1.0, static_cast<double>(extents_[2] - 1))},
                linear_axis(what, heights), 320, fmt::format("{} at {} points of its axis", what, extents_[2]));
  plot.curve("compute", what, values);
  return plot.svg();
}

}  // namespace plait::cli
