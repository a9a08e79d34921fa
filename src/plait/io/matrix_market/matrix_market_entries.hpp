#pragma once

#include <complex>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/io/matrix_market/matrix_market_header.hpp"

namespace plait::io {

/// The C++ types of what Matrix Market files hold.
template <class T>
concept MatrixMarketElement =
    std::same_as<T, Index> || std::same_as<T, double> || std::same_as<T, std::complex<double>>;

/// An element of a matrix, counted from 0.
template <class T>
struct MatrixEntry {
  Index row = 0;
  Index column = 0;
  T value{};
  friend bool operator==(const MatrixEntry&, const MatrixEntry&) = default;
};

/// Reads consecutive lines of a Matrix Market file that follow its header, from any of them on.
///
/// \pre  MatrixMarketElement<T>, the type that `header.dtype()` stands for
template <MatrixMarketElement T>
class MatrixMarketEntries {
 public:
  /// The first line to come is number `first_line` of the file, and `first_entry` entries lie before it.
  MatrixMarketEntries(const MatrixMarketHeader& header, std::string path, Index first_line, Index first_entry);

  /// Whether a line has an entry: all but blank ones and comments do.
  [[nodiscard]] static bool has_entry(std::string_view line);

  /// The entry on the next line, if it has one.
  ///
  /// \throws FileError  beginning with "PATH:LINE:": a number is malformed, missing or one too many, a row or column is
  ///                    outside of the matrix, or the entry is one that the symmetry rules out
  [[nodiscard]] std::optional<MatrixEntry<T>> read(std::string_view line);

  /// The entry on the other side of the diagonal, if the symmetry tells that there is one.
  [[nodiscard]] std::optional<MatrixEntry<T>> mirrored(const MatrixEntry<T>& entry) const;

 private:
  [[nodiscard]] MatrixEntry<T> parse(std::string_view line);
  [[nodiscard]] T take_value(std::string_view& rest) const;
  void take_place(std::string_view& rest, MatrixEntry<T>& entry) const;
  void step_through_array();
  void expect_allowed(const MatrixEntry<T>& entry) const;

  MatrixMarketHeader header_;
  std::string path_;
  Index next_line_;
  Index row_ = 0;  // of the next entry of an array
  Index column_ = 0;
};

}  // namespace plait::io
