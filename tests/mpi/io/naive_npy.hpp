#pragma once

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/shape.hpp"

namespace plait::test {

/// Element (i, j) of the matrices of these tests: all bytes of a number differ, so that their order shows.
template <class T>
T element(Index i, Index j) {
  const auto bits = static_cast<std::uint64_t>(i * 1000 + j + 1) * 0x0102030405060708U;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<double>(i * 1000 + j) + 0.123456789);
  } else {
    using Part = typename T::value_type;
    return {element<Part>(i, j), -element<Part>(j, i)};
  }
}

/// NumPy's code of T, such as "f8".
template <class T>
std::string numpy_code() {
  const std::string size = std::to_string(sizeof(T));
  if constexpr (std::is_floating_point_v<T>) return "f" + size;
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) return "i" + size;
  if constexpr (std::is_unsigned_v<T>) return "u" + size;
  return "c" + size;
}

template <class T>
std::string bytes_of_number(T value, bool big_endian) {
  if constexpr (requires { value.imag(); }) {
    return bytes_of_number(value.real(), big_endian) + bytes_of_number(value.imag(), big_endian);
  } else {
    std::string bytes(reinterpret_cast<const char*>(&value), sizeof(T));
    if (big_endian) std::reverse(bytes.begin(), bytes.end());  // these tests run on little-endian machines
    return bytes;
  }
}

/// The elements of a matrix one by one, as a file in C order (by rows) or in Fortran order holds them.
template <class T>
std::string naive_elements(layout::Shape shape, StorageOrder order, bool big_endian = false) {
  std::string bytes;
  if (order == StorageOrder::row_major) {
    for (Index i = 0; i < shape.rows; ++i) {
      for (Index j = 0; j < shape.columns; ++j) bytes += bytes_of_number(element<T>(i, j), big_endian);
    }
  } else {
    for (Index j = 0; j < shape.columns; ++j) {
      for (Index i = 0; i < shape.rows; ++i) bytes += bytes_of_number(element<T>(i, j), big_endian);
    }
  }
  return bytes;
}

/// The bytes that a rank holds of a slab.
template <class T>
std::string slab_text(const layout::DistributedMatrix<T>& slab) {
  const auto& tile = slab.tiles()[0];
  return {reinterpret_cast<const char*>(tile.data()), static_cast<std::size_t>(tile.span()) * sizeof(T)};
}

/// A whole file of format `version`.0.
template <class T>
std::string naive_npy(layout::Shape shape, StorageOrder order, bool big_endian = false, int version = 1) {
  const std::string text = std::string("{'descr': '") + (big_endian ? '>' : '<') + numpy_code<T>() +
                           "', 'fortran_order': " + (order == StorageOrder::column_major ? "True" : "False") +
                           ", 'shape': (" + std::to_string(shape.rows) + ", " + std::to_string(shape.columns) +
                           "), }\n";
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  auto length = text.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i, length /= 256) file += static_cast<char>(length % 256);
  return file + text + naive_elements<T>(shape, order, big_endian);
}

}  // namespace plait::test
