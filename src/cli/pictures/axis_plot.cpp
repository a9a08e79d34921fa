#include "cli/pictures/axis_plot.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

constexpr int plot_width = 640;
constexpr int plot_left = 74;
constexpr int plot_right = 18;
constexpr int plot_top = 16;
constexpr int plot_bottom = 46;
constexpr auto most_points = std::size_t{2} * static_cast<std::size_t>(plot_width - plot_left - plot_right);
constexpr std::size_t most_hits = 400;  // of a curve
constexpr std::size_t few_points = 60;  // that have marks
constexpr double longest_logarithmic_axis = 1e24;

/// Where a number lies on an axis, from 0 to 1; what lies beyond is on the edge.
double place_on(const PlotAxis& axis, double number) {
  double at = 0;
  if (axis.scale == Scale::logarithmic) {
    const double low = std::log10(axis.low);
    at = number > 0 ? (std::log10(number) - low) / (std::log10(axis.high) - low) : 0;
  } else {
    at = (number - axis.low) / (axis.high - axis.low);
  }
  return std::clamp(at, 0.0, 1.0);
}

std::vector<Tick> decades_of(const PlotAxis& axis, int most_labels) {
  const int low = static_cast<int>(std::lround(std::log10(axis.low)));
  const int high = static_cast<int>(std::lround(std::log10(axis.high)));
  const int step = std::max(1, (high - low + most_labels - 1) / most_labels);
  std::vector<Tick> ticks;
  for (int power = high; power >= low; power -= step) {
    ticks.push_back({std::pow(10.0, power), power == 0 ? "1" : fmt::format("1e{}", power)});
  }
  return ticks;
}

/// The next step of 1, 2 or 5 times a power of ten.
double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// "4.5e5" instead of "4.5e+05": narrow enough to stand beside the title of the axis.
std::string without_zeros(std::string number) {
  const auto exponent = number.find('e');
  if (exponent == std::string::npos) return number;
  auto digits = number.begin() + static_cast<std::ptrdiff_t>(exponent) + 1;
  if (*digits == '+') digits = number.erase(digits);
  if (*digits == '-') ++digits;
  while (*digits == '0' && digits + 1 != number.end()) digits = number.erase(digits);
  return number;
}

std::vector<Tick> steps_of(const PlotAxis& axis, int most_labels) {
  double step = round_step((axis.high - axis.low) / most_labels);
  if (axis.scale == Scale::counts) step = std::max(1.0, step);
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  const int digits = 1 + std::max(0, static_cast<int>(std::floor(std::log10(largest)) - std::floor(std::log10(step))));
  std::vector<Tick> ticks;
  for (auto n = static_cast<long long>(std::ceil(axis.low / step - 1e-9));
       static_cast<double>(n) * step <= axis.high + 1e-9 * step; ++n) {
    const double at = static_cast<double>(n) * step;
    const bool is_plain = decimals <= 4 && largest < 1e6;
    ticks.push_back({at, n == 0     ? "0"
                         : is_plain ? fmt::format("{:.{}f}", at, decimals)
                                    : without_zeros(fmt::format("{:.{}g}", at, digits))});
  }
  return ticks;
}

/// Of groups of neighbours the lowest and the highest.
std::vector<AxisPlot::Point> thinned(std::span<const AxisPlot::Point> points, std::size_t most) {
  if (points.size() <= most) return {points.begin(), points.end()};
  std::vector<AxisPlot::Point> kept;
  const std::size_t groups = most / 2;
  for (std::size_t group = 0; group < groups; ++group) {
    const auto own = points.subspan(group * points.size() / groups,
                                    (group + 1) * points.size() / groups - group * points.size() / groups);
    auto [low, high] = std::ranges::minmax_element(own, {}, &AxisPlot::Point::y);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  return kept;
}

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

std::vector<Tick> ticks_of(const PlotAxis& axis, int most_labels) {
  if (axis.scale == Scale::unmarked) return {};
  return axis.scale == Scale::logarithmic ? decades_of(axis, most_labels) : steps_of(axis, most_labels);
}

PlotAxis logarithmic_axis(std::string title, std::span<const double> numbers, bool has_zeros) {
  double low = 0;
  double high = 0;
  for (const double number : numbers) {
    if (!(number > 0) || !std::isfinite(number)) continue;
    low = low == 0 ? number : std::min(low, number);
    high = std::max(high, number);
  }
  if (high == 0) low = high = 1;
  low = std::max(low, high / longest_logarithmic_axis);
  int lowest = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int highest = std::max(static_cast<int>(std::ceil(std::log10(high) - 1e-9)), lowest + 1);
  if (has_zeros) --lowest;
  return {std::move(title), Scale::logarithmic, std::pow(10.0, lowest), std::pow(10.0, highest)};
}

PlotAxis linear_axis(std::string title, std::span<const double> numbers) {
  double low = 0;
  double high = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    low = std::min(low, number);
    high = std::max(high, number);
  }
  if (low == high) high = low + 1;
  return {std::move(title), Scale::linear, low, high + (high - low) / 20};
}

PlotAxis axis_around(std::string title, Scale scale, double low, double high, double least) {
  const double middle = (low + high) / 2;
  // Of numbers that are equal there are ticks of few digits on both sides.
  const double around_one = middle == 0 ? 1 : std::abs(middle) / 5;
  const double length =
      low == high && least == 0 ? around_one : std::max({(high - low) * 1.1, least, std::abs(middle) * 1e-6, 1e-300});
  return {std::move(title), scale, middle - length / 2, middle + length / 2};
}

AxisPlot::AxisPlot(PlotAxis x, PlotAxis y, int height, std::string words)
    : x_(std::move(x)), y_(std::move(y)), height_(height), words_(std::move(words)) {}

double AxisPlot::x_of(double x) const { return plot_left + place_on(x_, x) * (plot_width - plot_left - plot_right); }

double AxisPlot::y_of(double y) const {
  return height_ - plot_bottom - place_on(y_, y) * (height_ - plot_bottom - plot_top);
}

void AxisPlot::curve(std::string_view mark, std::string_view what, std::span<const Point> points, Line line) {
  std::string path;
  std::string marks;
  bool is_broken = true;
  for (const Point& point : thinned(points, most_points)) {
    if (!std::isfinite(point.y)) {
      is_broken = true;
      continue;
    }
    const std::string at = fmt::format("{:.1f} {:.1f}", x_of(point.x), y_of(point.y));
    path += (is_broken ? "M" : "L") + at;
    marks += "M" + at + "h0";
    is_broken = false;
  }
  if (path.empty()) return;
  drawn_ += fmt::format(
      "<path class=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\" d=\"{}\"/>\n", mark,
      line == Line::broad ? 7 : 2, path);
  const std::string_view across = std::string_view(x_.title).substr(0, x_.title.find(','));
  for (const Point& point : thinned(points, most_hits)) {
    if (!std::isfinite(point.y)) continue;
    hits_ += svg::circle(x_of(point.x), y_of(point.y), 4, "class=\"hit\"",
                         fmt::format("{} {:.6g}: {} {:.6g}", across, point.x, what, point.y));
  }
  if (points.size() > few_points || line == Line::broad) return;
  drawn_ += fmt::format("<path class=\"{}\" stroke-width=\"6\" stroke-linecap=\"round\" d=\"{}\"/>\n", mark, marks);
}

void AxisPlot::band(std::string_view mark, std::span<const Point> low, std::span<const Point> high) {
  std::string path;
  for (const Point& point : high)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(point.x), y_of(point.y));
  for (std::size_t i = low.size(); i-- > 0;) path += fmt::format("L{:.1f} {:.1f}", x_of(low[i].x), y_of(low[i].y));
  if (!path.empty()) under_ += fmt::format("<path class=\"band {}\" d=\"{}Z\"/>\n", mark, path);
}

void AxisPlot::level(double y, std::string_view words) {
  const double at = y_of(y);
  constexpr int x =
      plot_left + (plot_width - plot_left - plot_right) * 2 / 5;  // where curves that fall are still above
  const bool has_room_below = at + 16 < height_ - plot_bottom;
  under_ += fmt::format("<path class=\"level\" stroke-dasharray=\"6 4\" d=\"M{} {:.1f}H{}\"/>", plot_left, at,
                        plot_width - plot_right) +
            svg::text(x, has_room_below ? at + 15 : at - 4, words);
}

void AxisPlot::boundary(double x, std::string_view words, double next) {
  const double at = x_of(x);
  under_ += fmt::format("<path class=\"level\" stroke-dasharray=\"2 3\" d=\"M{:.1f} {}V{}\"/>\n", at, plot_top,
                        height_ - plot_bottom);
  const double needed = 7 * static_cast<double>(words.size()) + 6;
  if (x_of(next) - at >= needed) under_ += svg::text(at, plot_top - 4, words);
}

void AxisPlot::note(Point at, std::string_view words) {
  const double x = x_of(at.x);
  if (x + 7 * static_cast<double>(words.size()) < plot_width - plot_right) {
    drawn_ += svg::text(x + 8, y_of(at.y) - 6, words);
  } else {
    drawn_ += svg::text(x - 8, y_of(at.y) + 16, words, "text-anchor=\"end\"");
  }
}

void AxisPlot::point(std::string_view mark, Point at, double radius, std::string_view words) {
  hits_ += svg::circle(x_of(at.x), y_of(at.y), radius, fmt::format("class=\"{}\"", mark), words);
}

void AxisPlot::link(Point from, Point to, double strength, std::string_view words) {
  drawn_ += fmt::format(
      "<path class=\"level\" stroke-width=\"{:.2g}\" opacity=\"{:.2g}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\">"
      "<title>{}</title></path>\n",
      0.6 + 1.2 * strength, 0.1 + 0.45 * strength, x_of(from.x), y_of(from.y), x_of(to.x), y_of(to.y),
      svg::escaped(words));
}

std::string AxisPlot::ticks() const {
  const int bottom = height_ - plot_bottom;
  constexpr int most_across = 8;
  std::string text;
  for (const Tick& tick : ticks_of(y_, std::max(3, height_ / 40))) {
    const double at = y_of(tick.at);
    text += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", plot_left, at, plot_width - plot_right) +
            svg::text(plot_left - 6, at + 4, tick.words, "text-anchor=\"end\"");
  }
  for (const Tick& tick : ticks_of(x_, most_across)) {
    const double at = x_of(tick.at);
    text += fmt::format("<path class=\"level\" d=\"M{:.1f} {}v4\"/>", at, bottom) +
            svg::text(at, bottom + 18, tick.words,
                      at > plot_width - plot_right - 8 ? "text-anchor=\"end\"" : "text-anchor=\"middle\"");
  }
  return text;
}

std::string AxisPlot::svg() const {
  const int bottom = height_ - plot_bottom;
  return svg::opening("plot", plot_width, height_, words_) + ticks() +
         fmt::format("<path class=\"level\" d=\"M{0} {1}V{2}H{3}\"/>\n", plot_left, plot_top, bottom,
                     plot_width - plot_right) +
         under_ + drawn_ + hits_ +
         svg::axis_titles(plot_left, plot_top, plot_width - plot_right, bottom, height_ - 6, x_.title, y_.title) +
         "</svg>\n";
}

std::string objective_figure(const std::string& title, const std::vector<double>& objectives, std::string_view words) {
  std::vector<AxisPlot::Point> curve;
  for (const double each : objectives) curve.push_back({static_cast<double>(curve.size() + 1), each});
  const auto [least, most] = std::ranges::minmax(objectives);
  const bool is_logarithmic = least > 0 && most >= 10 * least;
  AxisPlot plot(
      {"iteration", Scale::counts, 0, std::max(2.0, static_cast<double>(curve.size()))},
      is_logarithmic ? logarithmic_axis(title, objectives, false) : axis_around(title, Scale::linear, least, most, 0),
      320, "The objective over iterations");
  plot.curve("compute", "objective", curve);
  return fmt::format("<h2>Objective</h2>\n{}<p class=\"soft\">{}{}</p>\n", plot.svg(), words,
                     is_logarithmic ? " On a logarithmic scale." : "");
}

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
