#include "cli/pictures/matrix_picture.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "plait/mpi/collectives.hpp"

#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

constexpr double picture_width = 640;  // as plots have
constexpr double picture_side = 450;
constexpr double thinnest_side = 60;
constexpr double picture_left = 74;
constexpr double picture_top = 12;
constexpr double bottom_margin = 46;
constexpr double shade_height = 20;
constexpr double sign_gap = 24;
constexpr double heading_height = 22;

std::string mark_of(int shade) { return fmt::format("class=\"{}{}\"", shade < 0 ? 'm' : 'p', std::abs(shade)); }

template <class Visit>
void for_each_cell(const MatrixPicture& picture, const Visit& visit) {
  for (Index row = 0; row < picture.cells().rows; ++row) {
    for (Index column = 0; column < picture.cells().columns; ++column) visit(picture.number(row, column));
  }
}

/// But for those that have no element.
template <class Visit>
void for_each_number(const MatrixPicture& picture, const Visit& visit) {
  for_each_cell(picture, [&](double number) {
    if (std::isfinite(number)) visit(number);
  });
}

/// Neighbours of one shade as one line, which ends where the next one begins.
std::string paths_of(const MatrixPicture& picture, const Shading& shading, double width, double height) {
  const layout::Shape& cells = picture.cells();
  const double cell_width = width / static_cast<double>(cells.columns);
  const double cell_height = height / static_cast<double>(cells.rows);
  std::array<std::string, 2 * Shading::shades + 1> paths;
  for (Index row = 0; row < cells.rows; ++row) {
    const auto at = [&](Index column) { return shading.of(picture.number(row, column)); };
    for (Index begin = 0; begin < cells.columns;) {
      const int shade = at(begin);
      Index end = begin + 1;
      while (end < cells.columns && at(end) == shade) ++end;
      paths[static_cast<std::size_t>(Shading::shades + shade)] +=
          fmt::format("M{:.2f} {:.2f}H{:.2f}", static_cast<double>(begin) * cell_width,
                      (static_cast<double>(row) + 0.5) * cell_height, static_cast<double>(end) * cell_width);
      begin = end;
    }
  }
  std::string text;
  for (int shade = -Shading::shades; shade <= Shading::shades; ++shade) {
    const std::string& path = paths[static_cast<std::size_t>(Shading::shades + shade)];
    if (path.empty() || (shade == 0 && !shading.is_linear())) continue;
    text += fmt::format("<path {} stroke-width=\"{:.2f}\" d=\"{}\"/>\n", shade == 0 ? "class=\"rest\"" : mark_of(shade),
                        cell_height + 0.05, path);
  }
  return text;
}

std::vector<Tick> ticks_of_count(Index count, int most) {
  if (count < 2) return {{0, "0"}};
  return ticks_of({"", Scale::counts, 0, static_cast<double>(count - 1)}, most);
}

constexpr Index cells_of_curve = 1024;  // a pixel has more than one: points that share a cell do not bend it

}  // namespace

void MatrixPicture::unite(const mpi::Context& context) {
  mpi::all_reduce(context.comm(), std::span<double>(sizes_), mpi::Operation::maximum());
}

Shading::Shading(std::span<const MatrixPicture> pictures) {
  for (const MatrixPicture& picture : pictures) {
    for_each_number(picture, [&](double number) {
      largest_ = std::max(largest_, std::abs(number));
      is_linear_ = picture.scale() == MatrixPicture::Scale::linear;
      has_positive_ = has_positive_ || number > 0;
      has_negative_ = has_negative_ || number < 0;
    });
  }
  if (largest_ == 0) {
    step_ = 0;
    return;
  }
  double least = largest_;
  for (const MatrixPicture& picture : pictures) {
    for_each_number(picture, [&](double number) {
      if (number != 0 || is_linear_) least = std::min(least, std::abs(number));
    });
  }
  if (is_linear_) {
    // Zeros between numbers of one sign are drawn as the least ones.
    has_positive_ = has_positive_ || !has_negative_;
    if (has_positive_ && has_negative_) least = 0;
    step_ = (largest_ - least) / shades;
    if (!(step_ > 1e-12 * largest_)) step_ = 0;
    return;
  }
  // Of steps less than a decade the least size is in the lowest shade; where sizes differ by more, it is not drawn.
  step_ = std::clamp(std::log10(largest_ / least) / (shades - 1e-6), 0.0, 1.0);
  if (!(step_ > 1e-3)) step_ = 0;  // all alike
}

int Shading::of(double number) const {
  if (!std::isfinite(number)) return 0;
  const double size = std::abs(number);
  if (is_linear_) {
    const double below = step_ > 0 ? (largest_ - size) / step_ : 0;
    const int shade = std::clamp(shades - static_cast<int>(below), 1, shades);
    return number < 0 || (has_negative_ && !has_positive_) ? -shade : shade;
  }
  if (!(size > 0)) return 0;
  const double below = step_ > 0 ? std::min(std::log10(largest_ / size) / step_, double{shades}) : 0;
  const int shade = std::clamp(shades - static_cast<int>(below), 0, shades);
  return number < 0 ? -shade : shade;
}

double Shading::least_of(int shade) const {
  const int steps = shades - shade + 1;
  return is_linear_ ? largest_ - step_ * steps : largest_ * std::pow(10.0, -step_ * steps);
}

std::string cells_svg(const MatrixPicture& picture, const Shading& shading, const CellWords& words, double left,
                      double top, double width, double height) {
  const layout::Shape& shape = picture.shape();
  const layout::Shape& cells = picture.cells();
  std::string text = fmt::format(
      "<g transform=\"translate({},{})\" shape-rendering=\"crispEdges\">\n{}<path class=\"level\" d=\"M0 "
      "0H{:.1f}V{:.1f}H0Z\"/></g>\n",
      left, top, paths_of(picture, shading, width, height), width, height);
  const double per_row = height / static_cast<double>(shape.rows);
  const double per_column = width / static_cast<double>(shape.columns);
  for (const Tick& tick : ticks_of_count(shape.rows, static_cast<int>(height / 50) + 1)) {
    const double y = top + (tick.at + 0.5) * per_row;
    text += svg::line(left - 4, y, left, y, "class=\"level\"") +
            svg::text(left - 7, y + 4, tick.words, "text-anchor=\"end\"");
  }
  const double bottom = top + height;
  for (const Tick& tick : ticks_of_count(shape.columns, static_cast<int>(width / 70) + 1)) {
    const double x = left + (tick.at + 0.5) * per_column;
    text += svg::line(x, bottom, x, bottom + 4, "class=\"level\"") +
            svg::text(x, bottom + 18, tick.words, "text-anchor=\"middle\"");
  }
  text += svg::axis_titles(left, top, left + width, bottom, bottom + 38, words.across, words.down);
  std::string numbers;
  for_each_cell(picture, [&](double number) { numbers += ";" + words.number(number); });
  return text + svg::rectangle(left, top, width, height,
                               fmt::format("class=\"cells\" data-shape=\"{};{}\" data-cells=\"{};{}\" "
                                           "data-words=\"{};{}\" data-numbers=\"{}\"",
                                           shape.rows, shape.columns, cells.rows, cells.columns, words.down,
                                           words.across, numbers.substr(1)));
}

std::string scale_svg(const Shading& shading, const CellWords& words, double left, double top) {
  std::string text;
  const auto part = [&](int sign, std::string_view heading) {
    if (!heading.empty()) {
      text += svg::text(left, top + 10, heading, "class=\"title\"");
      top += heading_height;
    }
    // Larger sizes stand at the outer ends, as on an axis.
    const int lowest = shading.has_steps() ? 1 : Shading::shades;
    const auto label = [&](double size, double y) {
      text += svg::text(left + 24, y + 4, words.number(sign * size + 0.0), "class=\"small\"");
    };
    for (int k = lowest; k <= Shading::shades; ++k) {
      const int shade = sign > 0 ? Shading::shades + lowest - k : k;
      text += svg::rectangle(left, top, 18, shade_height, mark_of(sign * shade));
      label(sign < 0                  ? shading.least_of(shade)
            : shade < Shading::shades ? shading.least_of(shade + 1)
                                      : shading.largest(),
            top);
      top += shade_height;
    }
    if (shading.has_steps()) label(sign < 0 ? shading.largest() : shading.least_of(1), top);
    top += sign_gap;
  };
  if (shading.has_positive()) part(1, words.positive);
  if (shading.has_negative()) part(-1, words.negative);
  return text;
}

std::string drawn(const MatrixPicture& picture, std::string_view what, CellWords words, double tall) {
  if (picture.is_empty()) return {};
  const layout::Shape& shape = picture.shape();
  const layout::Shape& cells = picture.cells();
  const double down = tall * static_cast<double>(shape.rows), across = static_cast<double>(shape.columns);
  const auto side_of = [&](double length) {
    return std::max(thinnest_side, picture_side * length / std::max(down, across));
  };
  const double width = side_of(across);
  const double height = side_of(down);
  const Shading shading({&picture, 1});
  words.number = [](double number) {
    return std::isfinite(number) ? fmt::format("{:.3g}", number) : std::string("outside");
  };
  const bool has_signs = shading.has_positive() && shading.has_negative();
  if (!has_signs) words.positive = words.negative = {};
  std::string scale;
  double bottom = picture_top + height + bottom_margin;
  if (shading.has_steps() || has_signs) {
    scale = scale_svg(shading, words, picture_left + width + 28, picture_top);
    const double part = (shading.has_steps() ? Shading::shades : 1) * shade_height;
    bottom = std::max(bottom, 2 * picture_top + (has_signs ? 2 * (heading_height + part) + sign_gap : part));
  }
  std::string text = svg::opening("plot", picture_width, bottom,
                                  fmt::format("Elements of {}, {} x {}", what, shape.rows, shape.columns)) +
                     cells_svg(picture, shading, words, picture_left, picture_top, width, height) + scale +
                     "</svg>\n<p class=\"soft\">";
  if (shading.largest() == 0) {
    text += "All elements are 0. ";
  } else if (shading.has_steps() && shading.is_linear()) {
    text += fmt::format("Each shade is {:.3g} wide. ", shading.step());
  } else if (shading.has_steps()) {
    text += fmt::format("Each shade is a factor of {:.3g}; what is less than {:.2g} is not drawn. ", shading.step(),
                        shading.least_of(1));
  } else if (!has_signs) {
    text += fmt::format("Dark: elements that are {:.3g}; others are 0. ",
                        (shading.has_negative() ? -1 : 1) * shading.largest());
  }
  if (cells.rows == shape.rows && cells.columns == shape.columns) {
    text += "A cell is an element.";
  } else {
    text += fmt::format("{} x {} cells for {} x {} elements: a cell shows the largest of its own.", cells.rows,
                        cells.columns, shape.rows, shape.columns);
  }
  return text + "</p>\n";
}

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
