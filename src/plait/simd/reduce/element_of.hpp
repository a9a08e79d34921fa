#pragma once

#include <complex>
#include <concepts>
#include <type_traits>

#include "plait/simd/float16.hpp"
#include "plait/simd/reduce/element.hpp"

namespace plait::simd {

/// Whether T is one of C++'s types that MPI's operations combine.
template <class T>
inline constexpr bool is_element =
    std::integral<T> || std::floating_point<T> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>> || std::same_as<T, Float16> || std::same_as<T, BFloat16>;

/// How elements of type T lie in memory.
template <class T>
  requires is_element<T>
[[nodiscard]] constexpr Element element_of() noexcept {
  if constexpr (std::same_as<T, bool>) {
    return Element::boolean;
  } else if constexpr (std::same_as<T, Float16>) {
    return Element::float16;
  } else if constexpr (std::same_as<T, BFloat16>) {
    return Element::bfloat16;
  } else if constexpr (std::same_as<T, float>) {
    return Element::float32;
  } else if constexpr (std::same_as<T, double>) {
    return Element::float64;
  } else if constexpr (std::same_as<T, long double>) {
    return Element::long_double;
  } else if constexpr (std::same_as<T, std::complex<float>>) {
    return Element::complex64;
  } else if constexpr (std::same_as<T, std::complex<double>>) {
    return Element::complex128;
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 1   ? Element::int8
           : sizeof(T) == 2 ? Element::int16
           : sizeof(T) == 4 ? Element::int32
                            : Element::int64;
  } else {
    return sizeof(T) == 1   ? Element::uint8
           : sizeof(T) == 2 ? Element::uint16
           : sizeof(T) == 4 ? Element::uint32
                            : Element::uint64;
  }
}

}  // namespace plait::simd
