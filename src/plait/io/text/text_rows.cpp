#include "plait/io/text/text_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/vector.hpp"
#include "plait/io/file.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/slab.hpp"
#include "plait/io/text/text_lines.hpp"
#include "plait/io/text/text_number.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::io {

namespace {

constexpr Index most_columns = Index{1} << 31;

bool is_row(std::string_view line) {
  const std::string_view text = without_blanks(line);
  return !text.empty() && text[0] != '#';
}

/// The next field, without blanks around it, and the separator behind it.
std::string_view take_field(std::string_view& rest, char separator) {
  if (separator == ' ') return take_word(rest);
  const std::size_t end = std::min(rest.find(separator), rest.size());
  std::string_view field = without_blanks(rest.substr(0, end));
  while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return field;
}

/// Calls f(number of the field, field).
template <class F>
Index for_each_field(std::string_view line, char separator, F&& f) {
  Index fields = 0;
  const bool by_blanks = separator == ' ';
  bool is_more = true;
  while (is_more) {
    is_more = line.find(separator) != std::string_view::npos;
    const std::string_view field = take_field(line, separator);
    if (by_blanks) is_more = !without_blanks(line).empty();
    f(fields++, field);
  }
  return fields;
}

double number_of(std::string_view field) {
  const double number = take_real(field);
  if (!without_blanks(field).empty()) {
    throw ArgumentError(fmt::format("expected one number, found {} behind it", quoted_text(without_blanks(field))));
  }
  return number;
}

bool is_number(std::string_view field) {
  try {
    static_cast<void>(number_of(field));
    return true;
  } catch (const ArgumentError&) {
    return false;
  }
}

/// Takes COLUMN: off a line of LIBSVM's format.
Index take_column(std::string_view& rest) {
  rest = without_blanks(rest);
  Index column = 0;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), column);
  if (failure != std::errc() || end == rest.data() + rest.size() || *end != ':' || column < 0 ||
      column >= most_columns) {
    throw ArgumentError(
        fmt::format("expected COLUMN:VALUE, with a column below 2^31, found {}", quoted_text(take_word(rest))));
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  return column;
}

std::string_view without_comment(std::string_view line) {
  return line.substr(0, std::min(line.find('#'), line.size()));
}

/// Where the first row begins, and what it tells.
struct Start {
  Index bytes = 0;
  Index lines = 0;
  Index begin = 0;
  Index columns = 0;
  char separator = ' ';
  bool has_names = false;
};

Start start_of(const std::string& path, TextFormat format) {
  const File file = File::open_to_read(path);
  Start start{.bytes = file.size()};
  constexpr std::string_view mark = "\xef\xbb\xbf";  // of UTF-8, as some programs write it
  std::array<char, mark.size()> bytes{};
  const Index got = file.read_at(0, std::as_writable_bytes(std::span(bytes)));
  const std::string_view first(bytes.data(), static_cast<std::size_t>(got));
  if (first == mark) start.begin = mark.size();
  if (first.starts_with("\xff\xfe") || first.starts_with("\xfe\xff")) {
    throw FileError(fmt::format("{}: is text in UTF-16, expected ASCII or UTF-8", path));
  }
  const Index beginning = start.begin;
  TextLines lines(file, beginning, beginning, std::max(beginning, start.bytes));
  bool may_be_names = format == TextFormat::csv;
  while (const auto line = lines.next()) {
    const Index end = beginning + lines.bytes_done();
    if (is_row(*line)) {
      if (format == TextFormat::svm) return start;
      const std::size_t found = line->find_first_of(",;\t");
      start.separator = found == std::string_view::npos ? ' ' : (*line)[found];
      bool has_number = false;
      start.columns = for_each_field(*line, start.separator,
                                     [&](Index, std::string_view field) { has_number |= is_number(field); });
      if (has_number || !may_be_names) return start;
      may_be_names = false;
      start.has_names = true;
    }
    start.begin = end;
    ++start.lines;
  }
  throw FileError(fmt::format("{}: has no rows; expected a line of numbers for each", path));
}

/// Calls f(line, its number, where it begins) for lines that are rows, until it returns false.
template <class F>
void for_each_row(TextLines lines, Index begin, Index line_number, F&& f) {
  for (Index at = begin + lines.bytes_done();; ++line_number) {
    const auto line = lines.next();
    if (!line) return;
    if (is_row(*line) && !f(*line, line_number, at)) return;
    at = begin + lines.bytes_done();
  }
}

}  // namespace

TextRows describe_text_rows(mpi::Context& context, const std::string& path, TextFormat format) {
  const Start start = told_by_rank_zero(context, [&] { return start_of(path, format); });
  const File file = mpi::agreed(context, [&] { return File::open_to_read(path); });
  Index begin = start.begin, end = start.begin;
  layout::Axis::even(start.bytes - start.begin, context.size())
      .for_each_segment(context.rank(), [&](const layout::Segment& segment) {
        begin = start.begin + segment.global;
        end = begin + segment.length;
      });
  struct {
    Index rows = 0, lines = 0, least = most_columns, most = -1;
  } own;
  mpi::agreed(context, [&] {
    TextLines lines(file, start.begin, begin, end);
    while (const auto line = lines.next()) {
      ++own.lines;
      if (!is_row(*line)) continue;
      ++own.rows;
      if (format == TextFormat::csv) continue;
      // Columns ascend; what is wrong with a line is told when it is read.
      const std::string_view text = without_comment(*line);
      const std::size_t colon = text.rfind(':');
      if (colon == std::string_view::npos) continue;
      for (const std::size_t at : {text.find(':'), colon}) {
        std::size_t first = at;
        while (first > 0 && !is_blank(text[first - 1])) --first;
        Index column = 0;
        if (std::from_chars(text.data() + first, text.data() + at, column).ec != std::errc()) continue;
        own.least = std::min(own.least, column);
        own.most = std::max(own.most, std::min(column, most_columns));
      }
    }
  });
  TextRows result{format, {0, start.columns}, start.separator, start.has_names};
  result.shape.rows = mpi::all_reduce(context.comm(), own.rows, mpi::Operation::sum());
  if (format == TextFormat::svm) {
    result.base = std::clamp<Index>(mpi::all_reduce(context.comm(), own.least, mpi::Operation::minimum()), 0, 1);
    result.shape.columns = mpi::all_reduce(context.comm(), own.most, mpi::Operation::maximum()) + 1 - result.base;
    result.shape.columns = std::max<Index>(result.shape.columns, 0);
  }
  // Each rank looks up which rows that are the first ones of a rank begin in its share, and where.
  const Index first_row = mpi::sum_below(context.comm(), own.rows);
  const Index first_line = 1 + start.lines + mpi::sum_below(context.comm(), own.lines);
  Vector<Index> places(2 * context.size());
  mpi::agreed(context, [&] {
    const auto rows = layout::Axis::even(result.shape.rows, context.size());
    Index row = first_row;
    int rank = 0;
    const auto first_of = [&](int of) { return rows.local_extent(of) > 0 ? rows.global_of(of, 0) : result.shape.rows; };
    while (rank < context.size() && first_of(rank) < first_row) ++rank;
    for_each_row(TextLines(file, start.begin, begin, end), begin, first_line,
                 [&](std::string_view, Index line, Index at) {
                   for (; rank < context.size() && first_of(rank) == row; ++rank) {
                     places[rank] = at;
                     places[context.size() + rank] = line;
                   }
                   ++row;
                   return rank < context.size();
                 });
  });
  mpi::all_reduce(context.comm(), std::span<Index>(places), mpi::Operation::maximum());
  result.begin = places[context.rank()];
  result.line = places[context.size() + context.rank()];
  return result;
}

namespace {

void read_csv_line(std::span<double> row, std::string_view line, char separator) {
  const auto columns = static_cast<Index>(row.size());
  const Index fields = for_each_field(line, separator, [&](Index c, std::string_view field) {
    if (c >= columns) return;
    try {
      row[at(c)] = number_of(field);
    } catch (const ArgumentError& error) {
      throw ArgumentError(
          fmt::format("column {}: {}", c + 1, field.empty() ? "expected a number, found nothing" : error.what()));
    }
  });
  if (fields == columns) return;
  throw ArgumentError(
      fmt::format("has {} number{}, expected {} as in the first row", fields, fields == 1 ? "" : "s", columns));
}

void read_svm_line(std::span<double> row, std::string_view line, Index base) {
  line = without_comment(line);
  static_cast<void>(take_real(line));
  std::ranges::fill(row, 0.0);
  Index last = -1;
  while (!without_blanks(line).empty()) {
    const Index column = take_column(line);
    if (column <= last) {
      throw ArgumentError(fmt::format("column {} follows column {}, expected ascending ones", column, last));
    }
    last = column;
    if (column - base >= static_cast<Index>(row.size())) throw ArgumentError("was written to while it was read");
    row[at(column - base)] = take_real(line);
  }
}

}  // namespace

layout::DistributedMatrix<double> read_text_rows(mpi::Context& context, const std::string& path, const TextRows& rows,
                                                 const Progress& progress) {
  const auto slab =
      mpi::agreed(context, [&] { return slab_layout(rows.shape, StorageOrder::row_major, context.size()); });
  auto matrix = mpi::agreed(context, [&] { return make_slab<double>(path, slab, context.rank()); });
  mpi::agreed(context, [&] {
    const Index count = slab.rows().local_extent(context.rank());
    if (count == 0) return;
    const File file = File::open_to_read(path);
    double* to = matrix.tiles()[0].data();
    Index row = 0;
    const TextLines lines(file, rows.begin, rows.begin, std::max(rows.begin, file.size()));
    for_each_row(lines, rows.begin, rows.line, [&](std::string_view line, Index number, Index at) {
      const std::span into(to + row * rows.shape.columns, static_cast<std::size_t>(rows.shape.columns));
      try {
        if (rows.format == TextFormat::csv) read_csv_line(into, line, rows.separator);
        if (rows.format == TextFormat::svm) read_svm_line(into, line, rows.base);
        if (rows.format == TextFormat::svm_labels) into[0] = take_real(line);
      } catch (const ArgumentError& error) {
        throw FileError(fmt::format("{}:{}: {}", path, number, error.what()));
      }
      constexpr Index between = 4096;  // rows
      if (progress && row % between == 0) progress(at - rows.begin);
      return ++row < count;
    });
    if (row < count) throw FileError(fmt::format("{}: ended while it was read", path));
  });
  return matrix;
}

}  // namespace plait::io
