#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait::cli {

/// How numbers lie along an axis. Those of `counts` are whole, and so are its ticks; `unmarked` is linear without
/// ticks.
enum class Scale : unsigned char { linear, logarithmic, counts, unmarked };

/// An axis of a plot, from `low` to `high`.
struct PlotAxis {
  std::string title;  // with the unit; up to a comma it names a number on it
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
};

/// A logarithmic axis of whole decades that has room for these numbers, of which those that are no positive finite ones
/// do not count. Where `has_zeros`, there is a decade more below, on the edge of which they are drawn. So is what is
/// less than 1e-24 of the largest one: it is as good as 0, and would leave the others little room.
[[nodiscard]] PlotAxis logarithmic_axis(std::string title, std::span<const double> numbers, bool has_zeros);

/// A linear axis from 0, or the lowest number below it, to the highest one.
[[nodiscard]] PlotAxis linear_axis(std::string title, std::span<const double> numbers);

/// An axis from `low` to `high` with a margin, at least `least` long.
[[nodiscard]] PlotAxis axis_around(std::string title, Scale scale, double low, double high, double least);

/// Round numbers along an axis, each with its words.
struct Tick {
  double at = 0;
  std::string words;
};
[[nodiscard]] std::vector<Tick> ticks_of(const PlotAxis& axis, int most_labels);

/// A plot with axes as an SVG element: curves have the classes of `svg::style`, and tell their numbers to who points at
/// them.
class AxisPlot {
 public:
  struct Point {
    double x = 0;
    double y = 0;
  };
  enum class Line : unsigned char { thin, broad };

  /// \param words  what is to be seen, for those who can't see it
  AxisPlot(PlotAxis x, PlotAxis y, int height, std::string words);

  /// A line from point to point, broken where one is no number. What is beyond an axis lies on its edge. Of more points
  /// than there are pixels the highest and the lowest of each pixel are drawn; few of them have marks.
  /// \param what  a point's y is: "error"
  void curve(std::string_view mark, std::string_view what, std::span<const Point> points, Line line = Line::thin);

  /// Between the y of two curves over the same x.
  void band(std::string_view mark, std::span<const Point> low, std::span<const Point> high);

  /// A value of y over all x, and what it is, which stands under it.
  void level(double y, std::string_view words);

  /// Where something begins, and what it is; without words if there is no room for them before the x of `next`.
  void boundary(double x, std::string_view words, double next);

  /// Words beside a point, to its upper right or, where that is near the right edge, to its lower left.
  void note(Point at, std::string_view words);

  /// A point, and a line between two, whose strength is from 0 to 1; what they are, for who points at them.
  void point(std::string_view mark, Point at, double radius, std::string_view words);
  void link(Point from, Point to, double strength, std::string_view words);

  [[nodiscard]] std::string svg() const;

 private:
  [[nodiscard]] double x_of(double x) const;
  [[nodiscard]] double y_of(double y) const;
  [[nodiscard]] std::string ticks() const;

  PlotAxis x_;
  PlotAxis y_;
  int height_;
  std::string words_;
  std::string under_;  // what lies under the curves
  std::string drawn_;
  std::string hits_;  // where the pointer may rest
};

/// A section of a page: what iterations minimise, after each of them; on a logarithmic axis where it is positive and
/// falls tenfold.
///
/// \param words  HTML: what it is; may be empty
[[nodiscard]] std::string objective_figure(const std::string& title, const std::vector<double>& objectives,
                                           std::string_view words);

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
