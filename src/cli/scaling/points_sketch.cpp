#include "cli/scaling/points_sketch.hpp"

#include <tuple>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

using DrawnPoint = PointsSketch::DrawnPoint;

template <class A>
void append_point(std::vector<double>& coordinates, const matrix_view<const A>& points, Index i,
                  std::span<const double> origin) {
  const A* point = points.data() + i * points.leading_dimension();
  for (Index k = 0; k < points.columns(); ++k) coordinates.push_back(static_cast<double>(point[k]) + origin[at(k)]);
}

}  // namespace

template <class A>
PointsSketch LinkSketcher::taken(mpi::Context& context, const sinkhorn::PointClouds<A>& clouds,
                                 std::span<const double> origin) const {
  const auto width = at(clouds.y.columns());
  PointsSketch result;
  result.coordinates = clouds.y.columns();
  result.counts = {masses_.all_rows, clouds.y.rows()};
  result.links_of_point = links_of_point_;
  result.mass = masses_.total;
  std::vector<DrawnPoint> own_drawn;
  std::vector<double> own_points;
  mpi::agreed(context, [&] {
    for (Index i = 0; i < clouds.x.rows(); ++i) {
      if ((masses_.first_row + i) % step_ != 0) continue;
      own_drawn.push_back({masses_.first_row + i, masses_.rows[at(i)]});
      append_point(own_points, clouds.x, i, origin);
    }
  });
  result.points[0] = mpi::gather(context.comm(), std::span<const DrawnPoint>(own_drawn));
  std::vector<double> points = mpi::gather(context.comm(), std::span<const double>(own_points));
  const std::vector<Entry> entries = mpi::gather(context.comm(), std::span<const Entry>(entries_));
  mpi::agreed(context, [&] {
    if (context.rank() != 0) return;
    const Index step = step_of(clouds.y.rows());
    for (Index j = 0; j < clouds.y.rows(); j += step) {
      result.points[1].push_back({j, masses_.columns[at(j)]});
      append_point(points, clouds.y, j, origin);
    }
    const Plane plane(points, width);
    result.shown = plane.shown();
    std::size_t next = 0;
    for (std::vector<DrawnPoint>& cloud : result.points) {
      for (DrawnPoint& point : cloud) {
        std::tie(point.x, point.y) = plane.place(std::span(points).subspan(width * next++, width));
      }
    }
    for (const auto& [mass, row, column] : entries) {
      std::vector<double> end;
      append_point(end, clouds.y, column, origin);
      PointsSketch::Link link{mass, result.points[0][at(row / step_)], {column, masses_.columns[at(column)]}};
      std::tie(link.to.x, link.to.y) = plane.place(end);
      result.links.push_back(link);
    }
    std::ranges::stable_sort(result.links, std::greater(), &PointsSketch::Link::mass);
  });
  return result;
}

std::string drawn(const PointsSketch& sketch, std::span<const std::string> names) {
  std::array<double, 4> box{1e300, -1e300, 1e300, -1e300};
  const bool is_line = sketch.coordinates == 1;
  const auto placed = [&](const DrawnPoint& point, std::size_t cloud) -> AxisPlot::Point {
    return {point.x, is_line ? 1 - static_cast<double>(cloud) : point.y};
  };
  double largest = 0;
  const auto include = [&](const DrawnPoint& point, std::size_t cloud) {
    const auto [x, y] = placed(point, cloud);
    box = {std::min(box[0], x), std::max(box[1], x), std::min(box[2], y), std::max(box[3], y)};
    largest = std::max(largest, point.mass);
  };
  for (std::size_t cloud = 0; cloud < 2; ++cloud) {
    for (const DrawnPoint& point : sketch.points[cloud]) include(point, cloud);
  }
  for (const PointsSketch::Link& link : sketch.links) {
    include(link.from, 0);
    include(link.to, 1);
  }
  if (box[0] > box[1]) return {};
  auto [across, up] = plane_axes(at(sketch.coordinates), {box[0], box[1], is_line ? 0 : box[2], is_line ? 0 : box[3]});
  if (is_line) up = axis_around("Y below, X above", Scale::unmarked, box[2], box[3], 0);
  AxisPlot plot(across, up, plane_height,
                fmt::format("{} and {} points, and the strongest links", sketch.counts[0], sketch.counts[1]));
  for (auto link = sketch.links.rbegin(); link != sketch.links.rend(); ++link) {
    plot.link(placed(link->from, 0), placed(link->to, 1), link->mass / sketch.links.front().mass,
              fmt::format("X {} \u2192 Y {}: {:.4g}", link->from.index, link->to.index, link->mass));
  }
  for (std::size_t cloud = 0; cloud < 2; ++cloud) {
    for (const DrawnPoint& point : sketch.points[cloud]) {
      plot.point(cloud == 0 ? "plait" : "minus", placed(point, cloud),
                 largest > 0 ? 1.5 + 3.5 * std::sqrt(point.mass / largest) : 3,
                 fmt::format("{} {}: mass {:.4g}", cloud == 0 ? "X" : "Y", point.index, point.mass));
    }
  }
  std::string text = "<h2>Points and links</h2>\n<p>" + key("plait", "X: " + svg::escaped(names[0])) +
                     key("minus", "Y: " + svg::escaped(names[1])) + key("level", "links of the plan") + "</p>\n" +
                     plot.svg() + "<p class=\"soft\">";
  double mass = 0;
  for (const PointsSketch::Link& link : sketch.links) mass += link.mass;
  text += fmt::format(
      "Of each point of X that is drawn {}, which carry {:.3g} % of the mass; darker and thicker for "
      "more mass. Larger points have more mass.",
      sketch.links_of_point == 1 ? "the strongest link" : fmt::format("the {} strongest links", sketch.links_of_point),
      sketch.mass > 0 ? 100 * mass / sketch.mass : 0.0);
  for (std::size_t cloud = 0; cloud < 2; ++cloud) {
    const auto count = static_cast<Index>(sketch.points[cloud].size());
    if (count < sketch.counts[cloud]) {
      text += fmt::format(" {} of {} points of {} are drawn, at even distances.", count, sketch.counts[cloud],
                          cloud == 0 ? "X" : "Y");
    }
  }
  if (sketch.coordinates > 2) {
    text += fmt::format(" Of {} coordinates the two principal axes are shown, which have {:.3g} % of the variance.",
                        sketch.coordinates, 100 * sketch.shown);
  }
  return text + "</p>\n";
}

template PointsSketch LinkSketcher::taken(mpi::Context&, const sinkhorn::PointClouds<double>&,
                                          std::span<const double>) const;
template PointsSketch LinkSketcher::taken(mpi::Context&, const sinkhorn::PointClouds<float>&,
                                          std::span<const double>) const;

}  // namespace plait::cli
