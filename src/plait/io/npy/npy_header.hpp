#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/extents.hpp"
#include "plait/layout/shape.hpp"

namespace plait::io {

/// The first bytes of every .npy file.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// What the header of a .npy file tells. The elements lie from byte `data_offset` on, one after the other, by rows
/// (NumPy's C order) or by columns (its Fortran order).
struct NpyHeader {
  DType dtype = DType::f64;
  bool big_endian = false;
  StorageOrder order = StorageOrder::row_major;
  layout::Shape shape;
  Index data_offset = 0;
  Extents extents = {};  ///< those of the shape, or of the array that is read as a matrix

  /// The size of the whole file, without what may follow the elements.
  [[nodiscard]] Index file_bytes() const { return data_offset + shape.rows * shape.columns * bytes(dtype); }
  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// How many bytes it takes to parse a header, if that can be told from the `start` of the file.
///
/// \throws FileError  if this is no .npy file, its version is unknown, or the header is absurdly long
/// Source: NumPy, "NEP 1: A simple file format for NumPy arrays".
[[nodiscard]] std::optional<Index> npy_header_bytes(std::span<const std::byte> start, std::string_view path);

/// The header that the first `npy_header_bytes` bytes of a file are: of format 1.0, 2.0 or 3.0. An array of another
/// number of dimensions than two is read as a matrix: see Extents.
///
/// \throws FileError  beginning with `path`, if it is malformed or describes anything but what is wanted of a DType
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::byte> start, std::string_view path,
                                         Dimensions wanted = matrices);

/// The same for a vector: of one dimension, or a matrix with one row or one column. The shape becomes n × 1.
///
/// \throws FileError  beginning with `path`, if it is malformed or describes anything but a vector of a DType
[[nodiscard]] NpyHeader parse_npy_vector_header(std::span<const std::byte> start, std::string_view path);

/// A header in format 1.0 for an array in this machine's byte order, as NumPy writes it: the data begins at a multiple
/// of 64 bytes, its length.
///
/// \pre  no extent is negative
[[nodiscard]] std::string npy_header_text(DType dtype, const Extents& extents, StorageOrder order);

}  // namespace plait::io
