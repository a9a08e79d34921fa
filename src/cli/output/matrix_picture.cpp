#include "cli/output/matrix_picture.hpp"

#include <fmt/format.h>

#include "plait/mpi/collectives.hpp"

namespace plait::cli {

namespace {

constexpr int picture_shades = 8;
constexpr double picture_side = 640;
constexpr double thinnest_side = 60;
constexpr int picture_left = 74;
constexpr int picture_top = 12;

/// Which of the shades is that of a size; 0 is none.
class Shading {
 public:
  explicit Shading(const MatrixPicture& picture) : largest_(picture.largest()) {
    double least = largest_;
    for (Index row = 0; row < picture.cells().rows; ++row) {
      for (Index column = 0; column < picture.cells().columns; ++column) {
        const double size = picture.size(row, column);
        if (size > 0) least = std::min(least, size);
      }
    }
    // Of steps less than a decade the least size is in the lowest shade; where sizes differ by more, it is not drawn.
    if (largest_ > 0) step_ = std::clamp(std::log10(largest_ / least) / (picture_shades - 1e-6), 0.0, 1.0);
    if (largest_ > 0 && !(step_ > 1e-3)) step_ = 1;  // all alike
  }

  [[nodiscard]] int of(double size) const {
    if (!(size > 0) || !(largest_ > 0)) return 0;
    const double below = std::min(std::log10(largest_ / size) / step_, double{picture_shades});
    return std::clamp(picture_shades - static_cast<int>(below), 0, picture_shades);
  }
  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] double factor() const { return std::pow(10.0, step_); }
  /// The least size of a shade.
  [[nodiscard]] double least_of(int shade) const {
    return largest_ * std::pow(10.0, -step_ * (picture_shades - shade + 1));
  }

 private:
  double largest_;
  double step_ = 1;
};

double opacity_of(int shade) { return static_cast<double>(shade) / picture_shades; }

/// Neighbours of one shade as one line.
std::string cells_of(const MatrixPicture& picture, const Shading& shading, double width, double height) {
  const layout::Shape& cells = picture.cells();
  const double cell_width = width / static_cast<double>(cells.columns);
  const double cell_height = height / static_cast<double>(cells.rows);
  std::vector<std::string> paths(picture_shades + 1);
  for (Index row = 0; row < cells.rows; ++row) {
    const auto at = [&](Index column) { return shading.of(picture.size(row, column)); };
    for (Index begin = 0; begin < cells.columns;) {
      Index end = begin + 1;
      while (end < cells.columns && at(end) == at(begin)) ++end;
      paths[static_cast<std::size_t>(at(begin))] +=
          fmt::format("M{:.2f} {:.2f}h{:.2f}", static_cast<double>(begin) * cell_width,
                      (static_cast<double>(row) + 0.5) * cell_height, static_cast<double>(end - begin) * cell_width);
      begin = end;
    }
  }
  std::string text;
  for (int shade = 1; shade <= picture_shades; ++shade) {
    const std::string& path = paths[static_cast<std::size_t>(shade)];
    if (path.empty()) continue;
    text += fmt::format("<path class=\"compute\" stroke-width=\"{:.2f}\" opacity=\"{:.3f}\" d=\"{}\"/>\n",
                        cell_height + 0.05, opacity_of(shade), path);
  }
  return text;
}

/// The shades from left to right, and from which size on each is used.
std::string scale_of(const Shading& shading) {
  constexpr int width = 78;
  std::string text = fmt::format(
      "<svg class=\"plot\" style=\"max-width:{0}px\" viewBox=\"0 0 {0} 46\" role=\"img\" aria-label=\"Shades, from "
      "{1:.2g} to "
      "{2:.3g}\">\n",
      picture_left + picture_shades * width + 40, shading.least_of(1), shading.largest());
  for (int shade = 1; shade <= picture_shades; ++shade) {
    const int x = picture_left + (shade - 1) * width;
    text += fmt::format(
        "<path class=\"compute\" stroke-width=\"12\" opacity=\"{:.3f}\" d=\"M{} 6h{}\"/><text x=\"{}\" y=\"26\" "
        "text-anchor=\"middle\">{:.2g}</text>\n",
        opacity_of(shade), x, width, x, shading.least_of(shade));
  }
  return text +
         fmt::format(
             "<text x=\"{}\" y=\"26\" text-anchor=\"middle\">{:.3g}</text><text class=\"title\" x=\"{}\" y=\"42\" "
             "text-anchor=\"middle\">size of an element</text>\n</svg>\n",
             picture_left + picture_shades * width, shading.largest(), picture_left + picture_shades * width / 2);
}

}  // namespace

void MatrixPicture::unite(const mpi::Context& context) {
  mpi::all_reduce(context.comm(), std::span<double>(sizes_), mpi::Operation::maximum());
}

MatrixPicture MatrixPicture::transposed() const {
  MatrixPicture result({shape_.columns, shape_.rows});
  for (Index row = 0; row < cells_.rows; ++row) {
    for (Index column = 0; column < cells_.columns; ++column) {
      result.sizes_[static_cast<std::size_t>(column * cells_.rows + row)] = size(row, column);
    }
  }
  return result;
}

std::string drawn(const MatrixPicture& picture, std::string_view what) {
  if (picture.is_empty()) return {};
  const layout::Shape& shape = picture.shape();
  const layout::Shape& cells = picture.cells();
  const auto longest = static_cast<double>(std::max(shape.rows, shape.columns));
  const auto side_of = [&](Index extent) {
    return std::max(thinnest_side, picture_side * static_cast<double>(extent) / longest);
  };
  const double width = side_of(shape.columns);
  const double height = side_of(shape.rows);
  const Shading shading(picture);
  const auto corner = [&](double x, double y, const char* anchor, Index number) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, number);
  };
  const double bottom = picture_top + height;
  const double full_width = picture_left + std::max(width, 120.0) + 24;
  std::string text = fmt::format(
      "<svg class=\"plot\" style=\"max-width:{0:.0f}px\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
      "aria-label=\"Sizes of the "
      "elements of {2}, {3} x {4}\">\n<g transform=\"translate({5},{6})\" shape-rendering=\"crispEdges\">\n<path "
      "class=\"grid\" d=\"M0 0H{7:.1f}V{8:.1f}H0Z\"/>\n",
      full_width, bottom + 36, what, shape.rows, shape.columns, picture_left, picture_top, width, height);
  text += cells_of(picture, shading, width, height) + "</g>\n";
  text += corner(picture_left - 6, picture_top + 10, "end", 0);
  if (shape.rows > 1) text += corner(picture_left - 6, bottom, "end", shape.rows - 1);
  text += corner(picture_left, bottom + 14, "start", 0);
  if (shape.columns > 1) text += corner(picture_left + width, bottom + 14, "end", shape.columns - 1);
  text += fmt::format(
      "<text class=\"title\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">column</text>\n<text class=\"title\" "
      "transform=\"translate(13,{:.1f}) rotate(-90)\" text-anchor=\"middle\">row</text>\n</svg>\n",
      picture_left + width / 2, bottom + 28, picture_top + height / 2);
  if (shading.largest() > 0) text += scale_of(shading);
  text += "<p class=\"soft\">";
  if (shading.largest() > 0) {
    text += fmt::format(
        "The darkest are as large as {:.3g}; each shade less is a factor of {:.3g}, and what is less than {:.2g} is "
        "not drawn. ",
        shading.largest(), shading.factor(), shading.least_of(1));
  } else {
    text += "All elements are 0. ";
  }
  if (cells.rows == shape.rows && cells.columns == shape.columns) {
    text += "A cell is an element.";
  } else {
    text += fmt::format("The picture has {} x {} cells for {} x {} elements: a cell shows the largest of its own.",
                        cells.rows, cells.columns, shape.rows, shape.columns);
  }
  return text + "</p>\n";
}

}  // namespace plait::cli
