#include "bench/harness/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/index.hpp"

#include "bench/harness/svg.hpp"

namespace plait::bench {

namespace {

using Words = std::vector<std::string>;

// In pixels.
constexpr double map_margin = 16;
constexpr double map_head_height = 66;
constexpr double label_width = 150;
constexpr double field_width = 36, field_height = 15;
constexpr double gap = 26;  // between columns, and above a group
constexpr std::size_t columns = 4;

Words words_of(const std::string& name) {
  std::istringstream text(name);
  return {std::istream_iterator<std::string>(text), {}};
}

/// "16K" is 16384; nothing where the word is no size.
std::optional<Index> size_of(std::string_view word) {
  constexpr std::string_view units = "BKMG";
  const std::size_t digits = word.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || digits + 1 != word.size() || digits > 4) return std::nullopt;
  const std::size_t unit = units.find(word[digits]);
  if (unit == std::string_view::npos) return std::nullopt;
  return static_cast<Index>(std::stoi(std::string(word.substr(0, digits)))) << (10 * unit);
}

struct Row {
  Words words;  // of the cases, without the size
  std::map<Index, const Record*> fields;
};

struct Map {
  std::vector<Row> rows;                 // in the order of the report
  std::map<Index, std::string> sizes;    // of all rows
  Words common;                          // words that all rows have
  std::vector<std::vector<Row>> groups;  // the rows, without the common words
};

void add(Map& map, const Record& record) {
  Words words = words_of(record.name);
  const auto word = std::ranges::find_if(words, [](const std::string& text) { return size_of(text).has_value(); });
  if (word == words.end()) return;
  const Index size = *size_of(*word);
  map.sizes.emplace(size, *word);
  words.erase(word);
  auto row = std::ranges::find(map.rows, words, &Row::words);
  if (row == map.rows.end()) row = map.rows.insert(row, {words, {}});
  row->fields[size] = &record;
}

Map map_of(const Report& report) {
  Map map;
  for (const Record& record : report.records) add(map, record);
  if (map.rows.empty()) return map;
  const auto everywhere = [&](const std::string& word) {
    return std::ranges::all_of(map.rows,
                               [&](const Row& row) { return std::ranges::find(row.words, word) != row.words.end(); });
  };
  for (const std::string& word : map.rows[0].words) {
    if (everywhere(word)) map.common.push_back(word);
  }
  for (Row row : map.rows) {
    std::erase_if(row.words, [&](const auto& word) { return std::ranges::find(map.common, word) != map.common.end(); });
    if (row.words.empty()) row.words = {""};
    auto group = std::ranges::find_if(map.groups, [&](const auto& rows) { return rows[0].words[0] == row.words[0]; });
    if (group == map.groups.end()) group = map.groups.insert(group, std::vector<Row>{});
    group->push_back(std::move(row));
  }
  return map;
}

/// Red where there is nothing of the limit's speed, over yellow to green where there is all of it; blue above.
std::string color_of(double fraction) {
  if (fraction > 1.05) return "#8fbce6";
  return fmt::format("hsl({:.0f},65%,68%)", 130 * std::pow(std::clamp(fraction, 0.0, 1.0), 1.5));
}

std::string field(const Record& record, double x, double y) {
  const double fraction = record.fraction_of_limit.median;
  std::string drawn = svg::rectangle(x, y, field_width - 1, field_height - 1, color_of(fraction));
  if (!meets(record, record.gate)) {
    drawn += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"2\"/>\n",
        x + 1, y + 1, field_width - 3, field_height - 3, svg::gate_color);
  }
  return drawn + svg::text(x + field_width / 2, y + field_height - 4,
                           fraction < 9.995 ? fmt::format("{:.2f}", fraction) : fmt::format("{:.0f}", fraction),
                           "text-anchor=\"middle\" font-size=\"10\"");
}

double height_of(const std::vector<Row>& group) { return gap + static_cast<double>(group.size()) * field_height; }

std::string drawing(const std::vector<Row>& group, const Map& map, double x, double y) {
  std::string drawn = svg::text(x, y + gap - 6, group[0].words[0], "font-weight=\"bold\" font-size=\"11\"");
  const auto left_of = [&](Index size) {
    const auto column = std::distance(map.sizes.begin(), map.sizes.find(size));
    return x + label_width + static_cast<double>(column) * field_width;
  };
  for (const auto& [size, word] : map.sizes) {
    drawn += svg::text(left_of(size) + field_width / 2, y + gap - 6, word, "text-anchor=\"middle\" font-size=\"10\"");
  }
  double top = y + gap;
  for (const Row& row : group) {
    const Words label(row.words.begin() + 1, row.words.end());
    drawn += svg::text(x + label_width - 8, top + field_height - 4, fmt::format("{}", fmt::join(label, " ")),
                       "text-anchor=\"end\" font-size=\"11\"");
    for (const auto& [size, record] : row.fields) drawn += field(*record, left_of(size), top);
    top += field_height;
  }
  return drawn;
}

}  // namespace

std::string svg_heat_map(const Report& report) {
  const Map map = map_of(report);
  const double column_width = label_width + static_cast<double>(map.sizes.size()) * field_width + gap;
  double whole = 0;
  for (const auto& group : map.groups) whole += height_of(group);

  std::string drawn;
  std::size_t column = 0;
  double y = map_head_height, bottom = map_head_height;
  for (const auto& group : map.groups) {
    // A group goes where its middle would be if all of them stood below each other.
    if (y > map_head_height && column + 1 < columns && y + height_of(group) / 2 > map_head_height + whole / columns) {
      ++column;
      y = map_head_height;
    }
    drawn += drawing(group, map, map_margin + static_cast<double>(column) * column_width, y);
    y += height_of(group);
    bottom = std::max(bottom, y);
  }
  double key = map_margin;
  for (const auto& [fraction, words] : std::array{std::pair{0.25, "0.25"}, std::pair{0.5, "0.50"},
                                                  std::pair{0.75, "0.75"}, std::pair{1.0, "1.00 of the limit"}}) {
    drawn += svg::key(key, 40, color_of(fraction), words);
    key += 64;
  }
  drawn +=
      svg::key(key + 90, 40, color_of(2), "more") + svg::key(key + 160, 40, svg::gate_color, "framed: gate missed");
  return svg::picture(2 * map_margin + static_cast<double>(column + 1) * column_width - gap, bottom + map_margin,
                      fmt::format("{}: share of the limit's speed ({}, {})", fmt::join(map.common, " "), report.mpi,
                                  report.machine.cpu),
                      drawn);
}

}  // namespace plait::bench
