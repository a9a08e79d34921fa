#include "bench/harness/plot.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace plait::bench {

namespace {

// In pixels, as all that follows.
constexpr double label_width = 330;
constexpr double bars_width = 420;
constexpr double note_width = 210;
constexpr double head_height = 62;
constexpr double row_height = 40;
constexpr double foot_height = 34;

constexpr std::string_view plait_color = "#2f6db5";
constexpr std::string_view peer_color = "#b9bec6";
constexpr std::string_view gate_color = "#c0392b";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string text(double x, double y, std::string_view words, std::string_view attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(words));
}

std::string bar(double y, double length, double height, std::string_view color) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", label_width,
                     y, length, height, color);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

double peer_fraction(const Record& record) { return record.limit_seconds / record.comparison->seconds; }

// Bars that are longer are cut off: the others are to remain visible. The number is beside the bar.
constexpr double most_shown = 3;

// The least multiple of ½ that shows all bars, and the limit itself.
double end_of_axis(const Report& report) {
  double most = 1;
  for (const Record& record : report.records) {
    most = std::max(most, record.fraction_of_limit.median);
    if (record.comparison) most = std::max(most, peer_fraction(record));
  }
  double end = 1;
  while (end < std::min(most, most_shown)) end += 0.5;
  return end;
}

std::string key(double x, std::string_view color, std::string_view words) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"36\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x, color) +
         text(x + 18, 47, words);
}

std::string row(const Record& record, double y, double pixels_per_unit) {
  const Figure& fraction = record.fraction_of_limit;
  const auto x = [&](double value) { return label_width + value * pixels_per_unit; };
  const double most = x(0) + bars_width;
  std::string svg = text(label_width - 8, y + 20, record.name, "text-anchor=\"end\"");
  svg += bar(y + 6, std::min(bars_width, fraction.median * pixels_per_unit), 14, plait_color);
  svg += line(std::min(most, x(fraction.spread.low)), y + 13, std::min(most, x(fraction.spread.high)), y + 13,
              "stroke=\"#123\" stroke-width=\"2\"");
  std::string note = fmt::format("{:.2f}", fraction.median);
  if (record.comparison) {
    svg += bar(y + 21, std::min(bars_width, peer_fraction(record) * pixels_per_unit), 9, peer_color);
    note += fmt::format(", {:.1f} times the peer", record.comparison->speedup.median);
  }
  if (record.gate.fraction_of_limit) {
    const double gate = x(*record.gate.fraction_of_limit);
    svg += line(gate, y + 3, gate, y + 33, fmt::format("stroke=\"{}\" stroke-width=\"2\"", gate_color));
  }
  return svg + text(label_width + bars_width + 12, y + 20, note);
}

}  // namespace

std::string svg_plot(const Report& report) {
  const double width = label_width + bars_width + note_width;
  const double bottom = head_height + static_cast<double>(report.records.size()) * row_height;
  const double end = end_of_axis(report);
  const double pixels_per_unit = bars_width / end;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, bottom + foot_height);
  svg += text(16, 24,
              fmt::format("{}: share of the limit's speed ({}, {})", report.program, report.mpi, report.machine.cpu),
              "font-size=\"15\" font-weight=\"bold\"");
  svg += key(label_width, plait_color, "plait, with 95 % interval") + key(label_width + 190, peer_color, "peer") +
         key(label_width + 250, gate_color, "gate");
  for (double tick = 0; tick <= end; tick += 0.25) {
    const double x = label_width + tick * pixels_per_unit;
    svg += line(x, head_height, x, bottom, tick == 1 ? "stroke=\"#444\" stroke-width=\"2\"" : "stroke=\"#ddd\"");
    svg += text(x, bottom + 16, fmt::format("{:.2f}", tick), "text-anchor=\"middle\"");
  }
  double y = head_height;
  for (const Record& record : report.records) {
    svg += row(record, y, pixels_per_unit);
    y += row_height;
  }
  return svg + "</svg>\n";
}

}  // namespace plait::bench
