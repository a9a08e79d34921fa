#include "bench/harness/extent_plot.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <regex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/index.hpp"

#include "bench/harness/svg.hpp"

namespace plait::bench {

namespace {

// In pixels.
constexpr double margin = 16;
constexpr double panels_head_height = 62;
constexpr double panel_width = 250, panel_height = 170;
constexpr double gap_width = 56, gap_height = 66;
constexpr std::size_t panels_in_row = 3;

struct Point {
  double extent;
  const Record* record;
};

struct Panel {
  std::string name;  // that of the cases, without the extent
  std::vector<Point> points;
};

/// In the order of the report; points from the smallest extent on.
std::vector<Panel> panels_of(const Report& report) {
  static const std::regex square("([0-9]+)x\\1 ");
  std::vector<Panel> panels;
  for (const Record& record : report.records) {
    std::smatch match;
    if (!std::regex_search(record.name, match, square)) continue;
    const std::string name = match.prefix().str() + match.suffix().str();
    auto panel = std::ranges::find(panels, name, &Panel::name);
    if (panel == panels.end()) panel = panels.insert(panels.end(), {name, {}});
    panel->points.push_back({std::stod(match[1].str()), &record});
  }
  std::erase_if(panels, [](const Panel& panel) { return panel.points.size() < 2; });
  for (Panel& panel : panels) std::ranges::sort(panel.points, {}, &Point::extent);
  return panels;
}

/// Where points lie in a panel whose upper left corner is (left, top): extents on a logarithmic axis.
class Axes {
 public:
  Axes(const Panel& panel, double left, double top)
      : left_(left),
        bottom_(top + panel_height),
        first_(std::log(panel.points.front().extent)),
        last_(std::log(panel.points.back().extent)) {
    for (const auto& [extent, record] : panel.points) end_ = std::max(end_, record->fraction_of_limit.median);
    end_ = std::ceil(end_ * 4) / 4;
  }
  [[nodiscard]] double x(double extent) const {
    if (last_ == first_) return left_;
    return left_ + (std::log(extent) - first_) / (last_ - first_) * panel_width;
  }
  [[nodiscard]] double y(double fraction) const { return bottom_ - std::min(fraction, end_) / end_ * panel_height; }
  [[nodiscard]] double end() const { return end_; }

 private:
  double left_, bottom_, first_, last_;
  double end_ = 1;
};

std::string curve(const std::vector<std::pair<double, double>>& places, std::string_view color) {
  if (places.empty()) return "";
  std::string points;
  for (const auto& [x, y] : places) points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
  std::string drawn =
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, color);
  for (const auto& [x, y] : places) drawn += svg::rectangle(x - 3, y - 3, 6, 6, color);
  return drawn;
}

/// From the right on, as many as don't run into each other.
std::string extent_labels(const Panel& panel, const Axes& axes, double y) {
  constexpr double least_distance = 38;
  std::string drawn;
  double last = axes.x(panel.points.back().extent) + least_distance;
  for (const Point& point : std::views::reverse(panel.points)) {
    const double x = axes.x(point.extent);
    if (last - x < least_distance) continue;
    drawn += svg::text(x, y, fmt::format("{:.0f}", point.extent), "text-anchor=\"middle\" font-size=\"11\"");
    last = x;
  }
  return drawn;
}

std::string drawing(const Panel& panel, double left, double top) {
  const Axes axes(panel, left, top);
  std::string drawn = svg::text(left, top - 10, panel.name);
  for (double tick = 0; tick <= axes.end(); tick += 0.25) {
    const double y = axes.y(tick);
    drawn += svg::line(left, y, left + panel_width, y, tick == 1 ? "stroke=\"#444\"" : "stroke=\"#ddd\"");
    drawn += svg::text(left - 6, y + 4, fmt::format("{:.2f}", tick), "text-anchor=\"end\" font-size=\"11\"");
  }
  drawn += extent_labels(panel, axes, top + panel_height + 16);
  std::vector<std::pair<double, double>> own, peers;
  for (const auto& [extent, record] : panel.points) {
    const double x = axes.x(extent);
    const Figure& fraction = record->fraction_of_limit;
    drawn += svg::line(x, axes.y(fraction.spread.low), x, axes.y(fraction.spread.high), "stroke=\"#123\"");
    if (record->gate.fraction_of_limit) {
      const double y = axes.y(*record->gate.fraction_of_limit);
      drawn += svg::line(x - 9, y, x + 9, y, fmt::format("stroke=\"{}\" stroke-width=\"2\"", svg::gate_color));
    }
    own.emplace_back(x, axes.y(fraction.median));
    if (record->comparison) peers.emplace_back(x, axes.y(peer_fraction_of_limit(*record)));
  }
  return drawn + curve(peers, svg::peer_color) + curve(own, svg::plait_color);
}

}  // namespace

std::string svg_extent_plot(const Report& report) {
  const std::vector<Panel> panels = panels_of(report);
  constexpr double across = panel_width + gap_width, down = panel_height + gap_height;
  const std::size_t rows = (panels.size() + panels_in_row - 1) / panels_in_row;

  std::string drawn = svg::key(margin, 36, svg::plait_color, "plait, with 95 % interval") +
                      svg::key(margin + 190, 36, svg::peer_color, "peer") +
                      svg::key(margin + 250, 36, svg::gate_color, "gate");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto column = static_cast<double>(i % panels_in_row), row = static_cast<double>(i / panels_in_row);
    drawn += drawing(panels[i], margin + gap_width / 2 + column * across, panels_head_height + 28 + row * down);
  }
  return svg::picture(2 * margin + panels_in_row * across,
                      panels_head_height + static_cast<double>(rows) * down + margin,
                      fmt::format("{}: share of the limit's speed over the extent N of N x N ({}, {})", report.program,
                                  report.mpi, report.machine.cpu),
                      drawn);
}

}  // namespace plait::bench
