#include "plait/io/matrix_market/matrix_market_header.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/text/text_number.hpp"

namespace plait::io {

namespace {

struct Line {
  std::string_view path;
  Index number = 0;
  std::string_view text;
};

[[noreturn]] void fail(const Line& line, std::string_view what) {
  throw FileError(fmt::format("{}:{}: {}", line.path, line.number, what));
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return result;
}

constexpr std::array<std::pair<std::string_view, MatrixMarketFormat>, 2> formats{
    {{"array", MatrixMarketFormat::array}, {"coordinate", MatrixMarketFormat::coordinate}}};
constexpr std::array<std::pair<std::string_view, MatrixMarketField>, 5> fields{
    {{"real", MatrixMarketField::real},
     {"integer", MatrixMarketField::integer},
     {"complex", MatrixMarketField::complex},
     {"pattern", MatrixMarketField::pattern},
     {"double", MatrixMarketField::real}}};  // as some old programs write
constexpr std::array<std::pair<std::string_view, MatrixMarketSymmetry>, 4> symmetries{
    {{"general", MatrixMarketSymmetry::general},
     {"symmetric", MatrixMarketSymmetry::symmetric},
     {"skew-symmetric", MatrixMarketSymmetry::skew_symmetric},
     {"hermitian", MatrixMarketSymmetry::hermitian}}};

template <class Table>
auto take_choice(Line& line, const Table& table, std::string_view what) {
  const auto word = take_word(line.text);
  std::string expected;
  for (const auto& [text, choice] : table) {
    if (lower(word) == text) return choice;
    expected += fmt::format("{}{}", expected.empty() ? "" : ", ", text);
  }
  fail(line, fmt::format("the {} is {}; expected one of {}", what, quoted_text(word), expected));
}

void read_banner(Line line, MatrixMarketHeader& header) {
  if (lower(take_word(line.text)) != lower(matrix_market_banner)) {
    fail(line, fmt::format("is no Matrix Market file: it does not begin with {}", matrix_market_banner));
  }
  if (const auto object = take_word(line.text); lower(object) != "matrix") {
    fail(line, fmt::format("is a {}; only matrices are supported", quoted_text(object)));
  }
  header.format = take_choice(line, formats, "format");
  header.field = take_choice(line, fields, "field");
  header.symmetry = take_choice(line, symmetries, "symmetry");
  if (const auto more = take_word(line.text); !more.empty()) {
    fail(line, fmt::format("{} follows the symmetry; expected nothing", quoted_text(more)));
  }
  const bool pattern = header.field == MatrixMarketField::pattern;
  if (pattern && header.format == MatrixMarketFormat::array) fail(line, "an array can't be a pattern");
  if (pattern && header.symmetry == MatrixMarketSymmetry::skew_symmetric)
    fail(line, "a pattern can't be skew-symmetric");
  if (header.symmetry == MatrixMarketSymmetry::hermitian && header.field != MatrixMarketField::complex) {
    fail(line, "only a complex matrix can be hermitian");
  }
}

Index take_size(Line& line, std::string_view what) {
  try {
    const Index size = take_integer(line.text);
    if (size < 0) fail(line, fmt::format("the number of {} is {}; it can't be negative", what, size));
    return size;
  } catch (const ArgumentError& error) {
    fail(line, fmt::format("the number of {}: {}", what, error.what()));
  }
}

// The lines of an array: all elements, or those of the lower triangle.
Index array_entries(const MatrixMarketHeader& header) {
  const auto [rows, columns] = header.shape;
  switch (header.symmetry) {
    case MatrixMarketSymmetry::general: return rows * columns;
    case MatrixMarketSymmetry::skew_symmetric: return (rows * rows - rows) / 2;
    case MatrixMarketSymmetry::symmetric:
    case MatrixMarketSymmetry::hermitian: return (rows * rows - rows) / 2 + rows;
  }
  return 0;
}

void read_size(Line line, MatrixMarketHeader& header) {
  const bool coordinate = header.format == MatrixMarketFormat::coordinate;
  header.shape.rows = take_size(line, "rows");
  header.shape.columns = take_size(line, "columns");
  if (coordinate) header.entries = take_size(line, "entries");
  if (const auto more = take_word(line.text); !more.empty()) {
    fail(line, fmt::format("{} follows the size of {}; expected {} numbers", quoted_text(more),
                           coordinate ? "a coordinate matrix" : "an array", coordinate ? 3 : 2));
  }
  const auto [rows, columns] = header.shape;
  if (header.symmetry != MatrixMarketSymmetry::general && rows != columns) {
    fail(line,
         fmt::format("only a square matrix can be symmetric, and this one is {}", layout::to_string(header.shape)));
  }
  try {
    static_cast<void>(layout::elements(header.shape));
  } catch (const LayoutError& error) {
    fail(line, error.what());
  }
  if (!coordinate) header.entries = array_entries(header);
}

}  // namespace

DType MatrixMarketHeader::dtype() const noexcept {
  if (field == MatrixMarketField::integer) return DType::i64;
  return field == MatrixMarketField::complex ? DType::c128 : DType::f64;
}

std::optional<MatrixMarketHeader> parse_matrix_market_header(std::string_view start, bool whole,
                                                             std::string_view path) {
  MatrixMarketHeader header;
  Line line{path, 0, {}};
  for (std::size_t at = 0; at < start.size();) {
    const std::size_t end = start.find('\n', at);
    if (end == std::string_view::npos && !whole) return std::nullopt;
    const std::size_t next = end == std::string_view::npos ? start.size() : end + 1;
    line.text = without_blanks(start.substr(at, std::min(end, start.size()) - at));
    ++line.number;
    at = next;
    if (line.number == 1) {
      read_banner(line, header);
    } else if (!line.text.empty() && !line.text.starts_with('%')) {
      read_size(line, header);
      header.size_line = line.number;
      header.data_offset = static_cast<Index>(next);
      return header;
    }
  }
  if (!whole) return std::nullopt;
  ++line.number;
  fail(line, line.number == 1 ? fmt::format("is no Matrix Market file: it does not begin with {}", matrix_market_banner)
                              : std::string("the file ends before the line with the size of the matrix"));
}

}  // namespace plait::io
