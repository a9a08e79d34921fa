#include "bench/harness/plot.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "cli/pictures/svg.hpp"

namespace plait::bench {

namespace {

namespace svg = cli::svg;

// In pixels, as all that follows.
constexpr double bars_label_width = 400;
constexpr double bars_width = 420;
constexpr double note_width = 210;
constexpr double bars_head_height = 62;
constexpr double row_height = 40;
constexpr double foot_height = 52;

std::string bar(double y, double length, double height, std::string_view mark, const std::string& words) {
  return svg::rectangle(bars_label_width, y, length, height, fmt::format("class=\"{}\"", mark), words);
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
  const auto x = [&](double value) { return bars_label_width + value * pixels_per_unit; };
  const double most = x(0) + bars_width;
  std::string drawn = svg::text(bars_label_width - 8, y + 20, record.name, "text-anchor=\"end\"");
  drawn += bar(y + 6, std::min(bars_width, fraction.median * pixels_per_unit), 14, "plait",
               fmt::format("plait: {:.3f} [{:.3f}, {:.3f}] of the limit's speed", fraction.median, fraction.spread.low,
                           fraction.spread.high));
  drawn += svg::line(std::min(most, x(fraction.spread.low)), y + 13, std::min(most, x(fraction.spread.high)), y + 13,
                     "class=\"ink\" stroke-width=\"2\"");
  std::string note = fmt::format("{:.2f}", fraction.median);
  if (record.comparison) {
    drawn += bar(y + 21, std::min(bars_width, peer_fraction_of_limit(record) * pixels_per_unit), 9, "peer",
                 fmt::format("peer: {:.3f} of the limit's speed", peer_fraction_of_limit(record)));
    note += fmt::format(", {:.1f} times the peer", record.comparison->speedup.median);
  }
  if (record.gate.fraction_of_limit) {
    const double gate = x(*record.gate.fraction_of_limit);
    drawn += svg::line(gate, y + 3, gate, y + 33, "class=\"gate\" stroke-width=\"2\"");
  }
  return drawn + svg::text(bars_label_width + bars_width + 12, y + 20, note);
}

}  // namespace

std::string svg_plot(const Report& report) {
  const double width = bars_label_width + bars_width + note_width;
  const double bottom = bars_head_height + static_cast<double>(report.records.size()) * row_height;
  const double end = end_of_axis(report);
  const double pixels_per_unit = bars_width / end;

  std::string drawn = svg::key(bars_label_width, 36, "plait", "plait, with 95 % interval") +
                      svg::key(bars_label_width + 190, 36, "peer", "peer") +
                      svg::key(bars_label_width + 250, 36, "gate", "gate");
  for (double tick = 0; tick <= end; tick += 0.25) {
    const double x = bars_label_width + tick * pixels_per_unit;
    drawn +=
        svg::line(x, bars_head_height, x, bottom, tick == 1 ? "class=\"level\" stroke-width=\"2\"" : "class=\"grid\"");
    drawn += svg::text(x, bottom + 16, fmt::format("{:.2f}", tick), "text-anchor=\"middle\"");
  }
  drawn += svg::text(bars_label_width + bars_width / 2, bottom + 36, "share of the limit's speed",
                     "class=\"title\" text-anchor=\"middle\"");
  double y = bars_head_height;
  for (const Record& record : report.records) {
    drawn += row(record, y, pixels_per_unit);
    y += row_height;
  }
  return svg::file(
      width, bottom + foot_height,
      fmt::format("{}: share of the limit's speed ({}, {})", report.program, report.mpi, report.machine.cpu), drawn);
}

}  // namespace plait::bench
