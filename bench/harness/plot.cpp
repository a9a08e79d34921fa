#include "bench/harness/plot.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "bench/harness/svg.hpp"

namespace plait::bench {

namespace {

// In pixels, as all that follows.
constexpr double label_width = 400;
constexpr double bars_width = 420;
constexpr double note_width = 210;
constexpr double bars_head_height = 62;
constexpr double row_height = 40;
constexpr double foot_height = 34;

std::string bar(double y, double length, double height, std::string_view color) {
  return svg::rectangle(label_width, y, length, height, color);
}

// Bars that are longer are cut off: the others are to remain visible. The number is beside the bar.
constexpr double most_shown = 3;

// The least multiple of ½ that shows all bars, and the limit itself.
double end_of_axis(const Report& report) {
  double most = 1;
  for (const Record& record : report.records) {
    most = std::max(most, record.fraction_of_limit.median);
    if (record.comparison) most = std::max(most, peer_fraction_of_limit(record));
  }
  double end = 1;
  while (end < std::min(most, most_shown)) end += 0.5;
  return end;
}

std::string row(const Record& record, double y, double pixels_per_unit) {
  const Figure& fraction = record.fraction_of_limit;
  const auto x = [&](double value) { return label_width + value * pixels_per_unit; };
  const double most = x(0) + bars_width;
  std::string drawn = svg::text(label_width - 8, y + 20, record.name, "text-anchor=\"end\"");
  drawn += bar(y + 6, std::min(bars_width, fraction.median * pixels_per_unit), 14, svg::plait_color);
  drawn += svg::line(std::min(most, x(fraction.spread.low)), y + 13, std::min(most, x(fraction.spread.high)), y + 13,
                     "stroke=\"#123\" stroke-width=\"2\"");
  std::string note = fmt::format("{:.2f}", fraction.median);
  if (record.comparison) {
    drawn += bar(y + 21, std::min(bars_width, peer_fraction_of_limit(record) * pixels_per_unit), 9, svg::peer_color);
    note += fmt::format(", {:.1f} times the peer", record.comparison->speedup.median);
  }
  if (record.gate.fraction_of_limit) {
    const double gate = x(*record.gate.fraction_of_limit);
    drawn += svg::line(gate, y + 3, gate, y + 33, fmt::format("stroke=\"{}\" stroke-width=\"2\"", svg::gate_color));
  }
  return drawn + svg::text(label_width + bars_width + 12, y + 20, note);
}

}  // namespace

std::string svg_plot(const Report& report) {
  const double width = label_width + bars_width + note_width;
  const double bottom = bars_head_height + static_cast<double>(report.records.size()) * row_height;
  const double end = end_of_axis(report);
  const double pixels_per_unit = bars_width / end;

  std::string drawn = svg::key(label_width, 36, svg::plait_color, "plait, with 95 % interval") +
                      svg::key(label_width + 190, 36, svg::peer_color, "peer") +
                      svg::key(label_width + 250, 36, svg::gate_color, "gate");
  for (double tick = 0; tick <= end; tick += 0.25) {
    const double x = label_width + tick * pixels_per_unit;
    drawn +=
        svg::line(x, bars_head_height, x, bottom, tick == 1 ? "stroke=\"#444\" stroke-width=\"2\"" : "stroke=\"#ddd\"");
    drawn += svg::text(x, bottom + 16, fmt::format("{:.2f}", tick), "text-anchor=\"middle\"");
  }
  double y = bars_head_height;
  for (const Record& record : report.records) {
    drawn += row(record, y, pixels_per_unit);
    y += row_height;
  }
  return svg::picture(
      width, bottom + foot_height,
      fmt::format("{}: share of the limit's speed ({}, {})", report.program, report.mpi, report.machine.cpu), drawn);
}

}  // namespace plait::bench
