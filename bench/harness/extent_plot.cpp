#include "bench/harness/extent_plot.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/index.hpp"

#include "cli/pictures/svg.hpp"

namespace plait::bench {

namespace {

namespace svg = cli::svg;

// In pixels.
constexpr double margin = 16;
constexpr double panels_head_height = 62;
constexpr double panel_width = 250, panel_height = 170;
constexpr double gap_width = 80, gap_height = 84;
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

/// A case in a panel, and what is told of it.
struct Place {
  double x, y;
  std::string words;
};

std::string curve(const std::vector<Place>& places, std::string_view mark) {
  std::string path;
  for (const auto& [x, y, words] : places) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
  if (path.empty()) return path;
  std::string drawn = fmt::format("<path class=\"{}\" stroke-width=\"2\" d=\"{}\"/>\n", mark, path);
  for (const auto& [x, y, words] : places) drawn += svg::circle(x, y, 3.5, fmt::format("class=\"{}\"", mark), words);
  return drawn;
}

/// From the right on, as many as don't run into each other.
std::string extent_labels(const Panel& panel, const Axes& axes, double y) {
  constexpr double least_distance = 38;
  std::string drawn;
  double last = axes.x(panel.points.back().extent) + least_distance;
  for (auto point = panel.points.rbegin(); point != panel.points.rend(); ++point) {
    const double x = axes.x(point->extent);
    if (last - x < least_distance) continue;
    drawn += svg::text(x, y, fmt::format("{:.0f}", point->extent), "class=\"small\" text-anchor=\"middle\"");
    last = x;
  }
  return drawn;
}

std::string drawing(const Panel& panel, double left, double top) {
  const Axes axes(panel, left, top);
  std::string drawn = svg::text(left, top - 10, panel.name);
  for (double tick = 0; tick <= axes.end(); tick += 0.25) {
    const double y = axes.y(tick);
    drawn += svg::line(left, y, left + panel_width, y, tick == 1 ? "class=\"level\"" : "class=\"grid\"");
    drawn += svg::text(left - 6, y + 4, fmt::format("{:.2f}", tick), "class=\"small\" text-anchor=\"end\"");
  }
  drawn += extent_labels(panel, axes, top + panel_height + 16);
  drawn += svg::axis_titles(left + 16, top, left + panel_width, top + panel_height, top + panel_height + 34, "N",
                            "of the limit's speed");
  std::vector<Place> own, peers;
  for (const auto& [extent, record] : panel.points) {
    const double x = axes.x(extent);
    const Figure& fraction = record->fraction_of_limit;
    drawn += svg::line(x, axes.y(fraction.spread.low), x, axes.y(fraction.spread.high), "class=\"ink\"");
    if (record->gate.fraction_of_limit) {
      const double y = axes.y(*record->gate.fraction_of_limit);
      drawn += svg::line(x - 9, y, x + 9, y, "class=\"gate\" stroke-width=\"2\"");
    }
    const auto place = [&, extent = extent](const char* who, double share) {
      return Place{x, axes.y(share), fmt::format("N {:.0f}, {}: {:.3f} of the limit's speed", extent, who, share)};
    };
    own.push_back(place("plait", fraction.median));
    if (record->comparison) peers.push_back(place("peer", peer_fraction_of_limit(*record)));
  }
  return drawn + curve(peers, "peer") + curve(own, "plait");
}

}  // namespace

std::string svg_extent_plot(const Report& report) {
  const std::vector<Panel> panels = panels_of(report);
  constexpr double across = panel_width + gap_width, down = panel_height + gap_height;
  const std::size_t rows = (panels.size() + panels_in_row - 1) / panels_in_row;

  std::string drawn = svg::key(margin, 36, "plait", "plait, with 95 % interval") +
                      svg::key(margin + 190, 36, "peer", "peer") + svg::key(margin + 250, 36, "gate", "gate");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto column = static_cast<double>(i % panels_in_row), row = static_cast<double>(i / panels_in_row);
    drawn += drawing(panels[i], margin + gap_width * 0.75 + column * across, panels_head_height + 28 + row * down);
  }
  return svg::file(2 * margin + panels_in_row * across, panels_head_height + static_cast<double>(rows) * down + margin,
                   fmt::format("{}: share of the limit's speed over the extent N of N x N ({}, {})", report.program,
                               report.mpi, report.machine.cpu),
                   drawn);
}

}  // namespace plait::bench
