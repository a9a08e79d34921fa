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

#include "cli/pictures/svg.hpp"

namespace plait::bench {

namespace {

namespace svg = cli::svg;

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

/// White where there is nothing of the limit's speed, darker where there is more, and another colour above it.
std::string colored(double fraction) {
  constexpr double darkest = 0.65;  // on which numbers can still be read
  if (fraction > 1.05) return fmt::format("class=\"combine\" opacity=\"{}\"", darkest);
  return fmt::format("class=\"plait\" opacity=\"{:.2f}\"", darkest * std::clamp(fraction, 0.0, 1.0));
}

std::string key(double x, double fraction, std::string_view words) {
  return svg::rectangle(x, 40, 12, 12, colored(fraction)) + svg::text(x + 18, 51, words);
}

std::string field(const Record& record, double x, double y) {
  const double fraction = record.fraction_of_limit.median;
  std::string drawn = svg::rectangle(x, y, field_width - 1, field_height - 1, colored(fraction), record.name);
  if (!meets(record, record.gate)) {
    drawn += svg::rectangle(x + 1, y + 1, field_width - 3, field_height - 3, "class=\"gate frame\"");
  }
  return drawn + svg::text(x + field_width / 2, y + field_height - 4,
                           fraction < 9.995 ? fmt::format("{:.2f}", fraction) : fmt::format("{:.0f}", fraction),
                           "class=\"small title\" text-anchor=\"middle\"");
}

double height_of(const std::vector<Row>& group) { return gap + static_cast<double>(group.size()) * field_height; }

std::string drawing(const std::vector<Row>& group, const Map& map, double x, double y) {
  std::string drawn = svg::text(x, y + gap - 6, group[0].words[0], "class=\"title\"");
  const auto left_of = [&](Index size) {
    const auto column = std::distance(map.sizes.begin(), map.sizes.find(size));
    return x + label_width + static_cast<double>(column) * field_width;
  };
  for (const auto& [size, word] : map.sizes) {
    drawn += svg::text(left_of(size) + field_width / 2, y + gap - 6, word, "class=\"small\" text-anchor=\"middle\"");
  }
  double top = y + gap;
  for (const Row& row : group) {
    const Words label(row.words.begin() + 1, row.words.end());
    drawn += svg::text(x + label_width - 8, top + field_height - 4, fmt::format("{}", fmt::join(label, " ")),
                       "class=\"small\" text-anchor=\"end\"");
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
  double at = map_margin;
  for (const auto& [fraction, words] : std::array{std::pair{0.25, "0.25"}, std::pair{0.5, "0.50"},
                                                  std::pair{0.75, "0.75"}, std::pair{1.0, "1.00 of the limit"}}) {
    drawn += key(at, fraction, words);
    at += 64;
  }
  drawn += key(at + 90, 2, "more") + svg::key(at + 160, 40, "gate", "framed: gate missed");
  return svg::file(2 * map_margin + static_cast<double>(column + 1) * column_width - gap, bottom + map_margin,
                   fmt::format("{}: share of the limit's speed ({}, {})", fmt::join(map.common, " "), report.mpi,
                               report.machine.cpu),
                   drawn);
}

}  // namespace plait::bench
