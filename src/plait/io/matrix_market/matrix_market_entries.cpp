#include "plait/io/matrix_market/matrix_market_entries.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/io/text/text_number.hpp"

namespace plait::io {

namespace {

using Symmetry = MatrixMarketSymmetry;

// The first row that an array holds of a column.
Index first_row(Symmetry symmetry, Index column) {
  if (symmetry == Symmetry::general) return 0;
  return symmetry == Symmetry::skew_symmetric ? column + 1 : column;
}

// How many entries of an array lie before a column.
Index entries_before(const MatrixMarketHeader& header, Index column) {
  if (header.symmetry == Symmetry::general) return column * header.shape.rows;
  const Index above = column * (column - 1) / 2;
  const Index diagonal = header.symmetry == Symmetry::skew_symmetric ? column : 0;
  return column * header.shape.rows - above - diagonal;
}

// The column in which entry number `entry` of an array lies.
Index column_of(const MatrixMarketHeader& header, Index entry) {
  Index low = 0;
  Index high = header.shape.columns;
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (entries_before(header, middle) <= entry ? low : high) = middle;
  }
  return low;
}

Index take_index(std::string_view& rest, std::string_view what, Index extent) {
  const Index number = take_integer(rest);
  if (number >= 1 && number <= extent) return number - 1;
  throw ArgumentError(fmt::format("{} {} is outside 1..{}", what, number, extent));
}

}  // namespace

template <MatrixMarketElement T>
MatrixMarketEntries<T>::MatrixMarketEntries(const MatrixMarketHeader& header, std::string path, Index first_line,
                                            Index first_entry)
    : header_(header), path_(std::move(path)), next_line_(first_line) {
  if (header.format != MatrixMarketFormat::array || first_entry >= header.entries) return;
  column_ = column_of(header, first_entry);
  row_ = first_row(header.symmetry, column_) + first_entry - entries_before(header, column_);
}

template <MatrixMarketElement T>
bool MatrixMarketEntries<T>::has_entry(std::string_view line) {
  const auto text = without_blanks(line);
  return !text.empty() && text.front() != '%';
}

template <MatrixMarketElement T>
std::optional<MatrixEntry<T>> MatrixMarketEntries<T>::read(std::string_view line) {
  const Index number = next_line_++;
  if (!has_entry(line)) return std::nullopt;
  try {
    return parse(line);
  } catch (const ArgumentError& error) {
    throw FileError(fmt::format("{}:{}: {}", path_, number, error.what()));
  }
}

template <MatrixMarketElement T>
MatrixEntry<T> MatrixMarketEntries<T>::parse(std::string_view line) {
  MatrixEntry<T> entry;
  std::string_view rest = line;
  if (header_.format == MatrixMarketFormat::coordinate) {
    take_place(rest, entry);
  } else {
    entry.row = row_;
    entry.column = column_;
    step_through_array();
  }
  entry.value = take_value(rest);
  if (const auto more = take_word(rest); !more.empty()) {
    throw ArgumentError(fmt::format("{} follows the entry; expected one entry to a line", quoted_text(more)));
  }
  expect_allowed(entry);
  return entry;
}

template <MatrixMarketElement T>
T MatrixMarketEntries<T>::take_value(std::string_view& rest) const {
  if constexpr (std::same_as<T, Index>) {
    return take_integer(rest);
  } else if constexpr (std::same_as<T, double>) {
    return header_.field == MatrixMarketField::pattern ? 1.0 : take_real(rest);
  } else {
    const double real = take_real(rest);
    return {real, take_real(rest)};
  }
}

template <MatrixMarketElement T>
void MatrixMarketEntries<T>::take_place(std::string_view& rest, MatrixEntry<T>& entry) const {
  entry.row = take_index(rest, "row", header_.shape.rows);
  entry.column = take_index(rest, "column", header_.shape.columns);
  if (header_.symmetry != Symmetry::general && entry.row < entry.column) {
    throw ArgumentError(
        fmt::format("the entry at row {}, column {} is above the diagonal; a symmetric file has the lower "
                    "triangle only",
                    entry.row + 1, entry.column + 1));
  }
}

template <MatrixMarketElement T>
void MatrixMarketEntries<T>::step_through_array() {
  PLAIT_ASSERT(column_ < header_.shape.columns, "the number of entries has been checked");
  if (++row_ == header_.shape.rows) row_ = first_row(header_.symmetry, ++column_);
}

template <MatrixMarketElement T>
void MatrixMarketEntries<T>::expect_allowed(const MatrixEntry<T>& entry) const {
  const bool diagonal = entry.row == entry.column;
  if (header_.symmetry == Symmetry::skew_symmetric) {
    if (diagonal) throw ArgumentError("a skew-symmetric matrix has no entries on the diagonal");
    if constexpr (std::same_as<T, Index>) {
      if (entry.value == std::numeric_limits<Index>::min()) {
        throw ArgumentError(fmt::format("{} has no negative of 64 bits", entry.value));
      }
    }
  }
  if constexpr (std::same_as<T, std::complex<double>>) {
    if (header_.symmetry == Symmetry::hermitian && diagonal && entry.value.imag() != 0) {
      throw ArgumentError(fmt::format("the imaginary part of a diagonal element is {}; in a hermitian matrix it is 0",
                                      entry.value.imag()));
    }
  }
}

template <MatrixMarketElement T>
std::optional<MatrixEntry<T>> MatrixMarketEntries<T>::mirrored(const MatrixEntry<T>& entry) const {
  if (header_.symmetry == Symmetry::general || entry.row == entry.column) return std::nullopt;
  MatrixEntry<T> result{entry.column, entry.row, entry.value};
  if (header_.symmetry == Symmetry::skew_symmetric) result.value = -entry.value;
  if constexpr (std::same_as<T, std::complex<double>>) {
    if (header_.symmetry == Symmetry::hermitian) result.value = std::conj(entry.value);
  }
  return result;
}

template class MatrixMarketEntries<Index>;
template class MatrixMarketEntries<double>;
template class MatrixMarketEntries<std::complex<double>>;

}  // namespace plait::io
