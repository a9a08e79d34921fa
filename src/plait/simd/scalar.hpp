#pragma once

#include <complex>
#include <concepts>
#include <cstdint>

namespace plait::simd {

/// The element types that kernels compute with.
template <class T>
concept Scalar =
    std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

}  // namespace plait::simd

/// Applies a macro to each `Scalar`, for explicit instantiations.
#define PLAIT_FOR_EACH_SCALAR(macro) \
  macro(std::int8_t);                \
  macro(std::int16_t);               \
  macro(std::int32_t);               \
  macro(std::int64_t);               \
  macro(std::uint8_t);               \
  macro(std::uint16_t);              \
  macro(std::uint32_t);              \
  macro(std::uint64_t);              \
  macro(float);                      \
  macro(double);                     \
  macro(std::complex<float>);        \
  macro(std::complex<double>)
