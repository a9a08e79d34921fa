#pragma once

#include <complex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"
#include "plait/io/matrix_market/matrix_market_header.hpp"

namespace plait::test {

/// The text of a Matrix Market file and the matrix in it, as the definition of the format has it.
template <class T>
struct MatrixMarketExample {
  std::string text;
  Index rows = 0;
  Index columns = 0;
  std::vector<T> elements;  // by columns

  [[nodiscard]] T& at(Index row, Index column) { return elements[static_cast<std::size_t>(row + column * rows)]; }
};

/// How the lines of an example look.
struct LineStyle {
  std::string_view end = "\n";
  bool comments = false;     // and blank lines, here and there
  bool last_has_end = true;  // the last line
};

template <class T>
T mirror_image(io::MatrixMarketSymmetry symmetry, T value) {
  if (symmetry == io::MatrixMarketSymmetry::skew_symmetric) return -value;
  if constexpr (requires { value.imag(); }) {
    if (symmetry == io::MatrixMarketSymmetry::hermitian) return std::conj(value);
  }
  return value;
}

/// A small whole number in every part, so that sums are exact; in a number of spellings.
template <class T>
T small_number(std::uint64_t bits, std::string& text) {
  const int number = static_cast<int>(bits % 19) - 9;
  if constexpr (std::is_integral_v<T>) {
    text = std::to_string(number);
    return number;
  } else if constexpr (std::is_floating_point_v<T>) {
    const char* spellings[] = {"{}", "{}.0", "{}e0", "{}.D+00"};
    text = fmt::format(fmt::runtime(spellings[bits / 19 % 4]), number);
    return number;
  } else {
    std::string real;
    std::string imaginary;
    const auto re = small_number<double>(bits, real);
    const auto im = small_number<double>(bits >> 20, imaginary);
    text = real + "  " + imaginary;
    return {re, im};
  }
}

class LineWriter {
 public:
  LineWriter(std::string& text, const LineStyle& style) : text_(text), style_(style) {}

  void line(std::string_view content) {
    text_ += content;
    text_ += style_.end;
    if (style_.comments && ++lines_ % 3 == 0) text_ += "% a comment 1 2 3" + std::string(style_.end);
    if (style_.comments && lines_ % 5 == 0) text_ += "  " + std::string(style_.end);
  }
  void finish() {
    if (!style_.last_has_end) text_.resize(text_.size() - style_.end.size());
  }

 private:
  std::string& text_;
  const LineStyle& style_;
  int lines_ = 0;
};

template <class T>
std::string_view field_word() {
  if constexpr (std::is_integral_v<T>) return "integer";
  return std::is_floating_point_v<T> ? "real" : "complex";
}

inline std::string_view symmetry_word(io::MatrixMarketSymmetry symmetry) {
  constexpr std::string_view words[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  return words[static_cast<std::size_t>(symmetry)];
}

/// Entries at random places, some of them several times; with `entries < 0` an array.
template <class T>
MatrixMarketExample<T> matrix_market_example(io::MatrixMarketSymmetry symmetry, Index rows, Index columns,
                                             Index entries, const LineStyle& style, std::uint64_t seed) {
  using Symmetry = io::MatrixMarketSymmetry;
  MatrixMarketExample<T> example{{}, rows, columns, std::vector<T>(static_cast<std::size_t>(rows * columns))};
  LineWriter writer(example.text, style);
  const bool array = entries < 0;
  writer.line(fmt::format("%%MatrixMarket matrix {} {} {}", array ? "array" : "coordinate", field_word<T>(),
                          symmetry_word(symmetry)));
  writer.line(array ? fmt::format("{} {}", rows, columns) : fmt::format("{} {} {}", rows, columns, entries));

  std::uint64_t counter = 0;
  const auto add = [&](Index row, Index column, const std::string& before) {
    std::string text;
    T value = small_number<T>(random_bits(seed, counter++), text);
    if constexpr (requires { value.imag(); }) {
      if (symmetry == Symmetry::hermitian && row == column) {
        value = value.real();
        text = fmt::format("{} 0", value.real());
      }
    }
    writer.line(before + text);
    example.at(row, column) += value;
    if (symmetry != Symmetry::general && row != column) example.at(column, row) += mirror_image(symmetry, value);
  };
  const auto stored = [&](Index row, Index column) {
    return symmetry == Symmetry::general || row > column || (row == column && symmetry != Symmetry::skew_symmetric);
  };
  for (Index column = 0; array && column < columns; ++column) {
    for (Index row = 0; row < rows; ++row) {
      if (stored(row, column)) add(row, column, "");
    }
  }
  for (Index i = 0; i < entries;) {
    const auto row = static_cast<Index>(random_bits(seed, counter++) % static_cast<std::uint64_t>(rows));
    const auto column = static_cast<Index>(random_bits(seed, counter++) % static_cast<std::uint64_t>(columns));
    if (!stored(row, column)) continue;
    add(row, column, fmt::format("{} {} ", row + 1, column + 1));
    ++i;
  }
  writer.finish();
  return example;
}

}  // namespace plait::test
