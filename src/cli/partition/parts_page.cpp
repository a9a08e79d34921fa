#include <limits>
#include <optional>

#include "cli/partition/graph_job.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

/// Where a point is on the picture, and how near it is to who looks at it.
struct ProjectedPoint {
  double x = 0;
  double y = 0;
  double depth = 0;
};

ProjectedPoint projected(const partition::Points& points, Index v) {
  const double* p = points.of(v);
  if (points.dimensions == 2) return {p[0], -p[1], 0};
  constexpr double cosine = .8660254037844386;  // seen from a corner of the box
  return {cosine * (p[0] - p[1]), .5 * (p[0] + p[1]) - p[2], p[0] + p[1] + p[2]};
}

/// Neighbouring numbers have colours that are far from each other.
std::string colour_of(Index part) {
  const double hue = std::fmod(static_cast<double>(part) * 137.50776, 360);
  return fmt::format("hsl({:.0f},{}%,{}%)", hue, 45 + part % 3 * 15, 45 + part / 3 % 3 * 12);
}

struct Frame {
  double left = std::numeric_limits<double>::infinity();
  double top = std::numeric_limits<double>::infinity();
  double extent = 0;
  double tall = 0;  // in extents
  double area = 0;  // of the box of the points, in squares of the extent, each side at least a hundredth

  explicit Frame(const std::vector<ProjectedPoint>& points) {
    double right = -left;
    double bottom = -top;
    for (const ProjectedPoint& point : points) {
      left = std::min(left, point.x);
      right = std::max(right, point.x);
      top = std::min(top, point.y);
      bottom = std::max(bottom, point.y);
    }
    extent = std::max({right - left, bottom - top, std::numeric_limits<double>::min()});
    tall = (bottom - top) / extent;
    area = std::max(.01, (right - left) / extent) * std::max(.01, tall);
  }
  [[nodiscard]] std::pair<double, double> at(const ProjectedPoint& point) const {
    return {(point.x - left) / extent, (point.y - top) / extent};
  }
};

constexpr double picture_side = 480;

/// Fills empty cells that have others within two cells on two opposite sides.
void close_gaps(std::vector<int>& shown, int cells) {
  const std::vector<int> before = shown;
  const auto near = [&](int row, int column, int down, int right) {
    for (int step = 1; step <= 2; ++step) {
      const int r = row + step * down;
      const int c = column + step * right;
      const bool is_inside = r >= 0 && r < cells && c >= 0 && c < cells;
      if (is_inside && before[at(r * cells + c)] >= 0) return before[at(r * cells + c)];
    }
    return -1;
  };
  for (int row = 0; row < cells; ++row) {
    for (int column = 0; column < cells; ++column) {
      int& own = shown[at(row * cells + column)];
      if (own < 0 && near(row, column, 0, 1) >= 0) own = near(row, column, 0, -1);
      if (own < 0 && near(row, column, 1, 0) >= 0) own = near(row, column, -1, 0);
    }
  }
}

std::string parts_picture(const std::vector<ProjectedPoint>& points, const Frame& frame, std::span<const int> part,
                          bool is_flat) {
  // As many cells as there are points to be seen: of three dimensions, those on three sides of a cube.
  const auto n = static_cast<double>(points.size());
  const double seen = is_flat ? n : std::min(n, 3 * std::pow(n, 2. / 3));
  const int cells = static_cast<int>(std::clamp(std::sqrt(seen / frame.area), 8., 160.));
  std::vector<int> shown(at(cells * cells), -1);
  std::vector<double> depth(shown.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t v = 0; v < points.size(); ++v) {
    const auto [x, y] = frame.at(points[v]);
    const auto column = std::lround(x * (cells - 1));
    const auto cell = at(std::lround(y * (cells - 1)) * cells + column);
    if (points[v].depth < depth[cell]) continue;
    depth[cell] = points[v].depth;
    shown[cell] = part[v];
  }
  close_gaps(shown, cells);
  const double side = std::round(10 * picture_side / cells) / 10;  // as places in SVG are rounded
  const auto rows = std::lround(frame.tall * (cells - 1)) + 1;
  std::string text = svg::opening("parts", cells * side, static_cast<double>(rows) * side,
                                  "the parts of the vertices at their points");
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < cells;) {
      int end = column;
      const auto at_column = [&](int c) { return shown[at(row * cells + c)]; };
      while (end < cells && at_column(end) == at_column(column)) ++end;
      if (at_column(column) >= 0) {
        text +=
            svg::rectangle(column * side, row * side, (end - column) * side, side,
                           fmt::format("style=\"fill:{};shape-rendering:crispEdges\"", colour_of(at_column(column))),
                           fmt::format("part {}", at_column(column)));
      }
      column = end;
    }
  }
  return fmt::format(
      "<h2>Parts</h2>\n{}</svg>\n<p class=\"soft\">The vertices at their points, {}. Their part where the "
      "pointer rests.</p>\n",
      text, is_flat ? "in the colours of their parts" : "seen from a corner, in the colours of their parts");
}

/// \param tall  how low centres can lie, if they are amid vertices
std::string quotient_picture(const graph::GraphView& quotient, const std::vector<std::pair<double, double>>& centres,
                             std::optional<double> tall) {
  const double radius = std::min(14., picture_side / 4 / std::sqrt(static_cast<double>(quotient.vertices())));
  const double margin = radius + 3;
  const auto placed = [&](double share) { return margin + share * (picture_side - 2 * margin); };
  Index heaviest = 1;
  for (std::size_t e = 0; e < quotient.edge_weights.size(); ++e)
    heaviest = std::max(heaviest, quotient.edge_weights[e]);
  std::string text = svg::opening("quotient", picture_side, placed(tall.value_or(1)) + margin,
                                  "the graph of the parts: the wider a line, the heavier the cut between two parts");
  for (Index p = 0; p < quotient.vertices(); ++p) {
    quotient.for_each_neighbour(p, [&](graph::Vertex q, Index weight) {
      if (q < p) return;
      const double width = std::max(.3, 8 * static_cast<double>(weight) / static_cast<double>(heaviest));
      text +=
          svg::line(placed(centres[at(p)].first), placed(centres[at(p)].second), placed(centres[at(q)].first),
                    placed(centres[at(q)].second), fmt::format("class=\"wait\" style=\"stroke-width:{:.2f}\"", width));
    });
  }
  for (Index p = 0; p < quotient.vertices(); ++p) {
    text += svg::circle(placed(centres[at(p)].first), placed(centres[at(p)].second), radius,
                        fmt::format("style=\"fill:{}\"", colour_of(p)),
                        fmt::format("part {}: weight {}, {} neighbours", p, quotient.weight(p),
                                    quotient.offsets[at(p + 1)] - quotient.offsets[at(p)]));
    if (radius >= 10) {
      text += svg::text(placed(centres[at(p)].first), placed(centres[at(p)].second) + 4, fmt::format("{}", p),
                        "class=\"small tip\" text-anchor=\"middle\"");
    }
  }
  return fmt::format(
      "<h2>Neighbouring parts</h2>\n{}</svg>\n<p class=\"soft\">Circles are parts, {}. The wider a line, the heavier "
      "the "
      "edges between two parts: at most {}. Weights of parts where the pointer rests.</p>\n",
      text, tall ? "each amid its vertices" : "on a ring", heaviest);
}

}  // namespace

void PartsJob::draw(Report& report, Work& /*work*/) {
  const int parts = *parts_;
  constexpr int most_parts_drawn = 2000;
  std::vector<std::pair<double, double>> centres(at(parts));
  std::optional<double> tall;
  if (points_.are_there() && view_.vertices() > 0) {
    std::vector<ProjectedPoint> points;
    for (Index v = 0; v < view_.vertices(); ++v) points.push_back(projected(points_, v));
    const Frame frame(points);
    tall = frame.tall;
    report.figure(parts_picture(points, frame, found_, points_.dimensions == 2));
    std::vector<double> count(centres.size());
    for (std::size_t v = 0; v < points.size(); ++v) {
      const auto [x, y] = frame.at(points[v]);
      auto& centre = centres[at(found_[v])];
      const double share = 1 / ++count[at(found_[v])];
      centre.first += (x - centre.first) * share;
      centre.second += (y - centre.second) * share;
    }
  } else {
    for (std::size_t p = 0; p < centres.size(); ++p) {
      const double angle = 2 * 3.14159265358979 * static_cast<double>(p) / parts;
      centres[p] = {.5 + .5 * std::sin(angle), .5 - .5 * std::cos(angle)};
    }
  }
  if (parts > 1 && parts <= most_parts_drawn) {
    report.figure(quotient_picture(partition::quotient_of(view_, found_, parts).view(), centres, tall));
  }
}

}  // namespace plait::cli
