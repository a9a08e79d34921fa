#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "plait/base/index.hpp"

namespace plait::simd {

/// How the elements of a reduction lie in memory: the kinds that MPI's predefined types come down to.
///
/// `boolean` is C's and C++'s bool; `logical` Fortran's default LOGICAL, a 32-bit integer that is true where it is not
/// 0; `float16` is IEEE binary16 and `bfloat16` the upper half of a float: both are computed with as float and rounded
/// to nearest, ties to even. The pairs are a value and the index that MAXLOC and MINLOC carry along, as C lays out
/// `struct { value; int; }`, padding included; `float_float` and `double_double` are Fortran's, whose index is a
/// floating-point number too.
enum class Element : unsigned char {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  long_double,
  complex64,   ///< two floats
  complex128,  ///< two doubles
  boolean,
  logical,
  float_int,
  double_int,
  long_int,
  short_int,
  int_int,
  long_double_int,
  float_float,
  double_double,
};

inline constexpr std::size_t element_count = 25;

/// All of them, in the order of `Element`.
[[nodiscard]] constexpr std::array<Element, element_count> elements() noexcept {
  std::array<Element, element_count> all{};
  for (std::size_t i = 0; i < element_count; ++i) all[i] = static_cast<Element>(i);
  return all;
}

[[nodiscard]] std::string_view name(Element element) noexcept;

/// From one element of an array to the next, padding included.
[[nodiscard]] Index size_in_bytes(Element element) noexcept;

/// Whether there are bytes in or after an element that belong to nothing in it, as in pairs whose index is shorter than
/// what C aligns the pair to. A program may keep something there.
[[nodiscard]] bool is_padded(Element element) noexcept;

}  // namespace plait::simd
