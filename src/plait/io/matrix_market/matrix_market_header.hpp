#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/io/dtype.hpp"
#include "plait/layout/shape.hpp"

namespace plait::io {

/// The first word of every Matrix Market file, in any mixture of upper and lower case.
inline constexpr std::string_view matrix_market_banner = "%%MatrixMarket";

/// array: every element, column by column. coordinate: some elements, each with its row and column.
enum class MatrixMarketFormat : unsigned char { array, coordinate };
enum class MatrixMarketField : unsigned char { real, integer, complex, pattern };
/// All but general: the file has the lower triangle only, in the array form of a skew-symmetric one without diagonal.
enum class MatrixMarketSymmetry : unsigned char { general, symmetric, skew_symmetric, hermitian };

/// What the lines of a Matrix Market file before its entries tell.
struct MatrixMarketHeader {
  MatrixMarketFormat format = MatrixMarketFormat::array;
  MatrixMarketField field = MatrixMarketField::real;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  layout::Shape shape;
  Index entries = 0;      // as many as there are lines with one
  Index size_line = 0;    // the number, from 1, of the line with the shape
  Index data_offset = 0;  // where the line after that begins, in bytes

  /// integer → i64, real and pattern → f64, complex → c128.
  [[nodiscard]] DType dtype() const noexcept;
  friend bool operator==(const MatrixMarketHeader&, const MatrixMarketHeader&) = default;
};

/// The header in the `start` of a file; nothing if it goes on after that. `whole` tells that the file ends there.
///
/// \throws FileError  beginning with "PATH:LINE:", if it is malformed or contradicts itself
/// Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935.
[[nodiscard]] std::optional<MatrixMarketHeader> parse_matrix_market_header(std::string_view start, bool whole,
                                                                           std::string_view path);

}  // namespace plait::io
