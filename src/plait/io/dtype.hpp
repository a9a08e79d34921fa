#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"
#include "plait/simd/scalar.hpp"

namespace plait::io {

/// The element types that files and the command know. c64 is a pair of f32, c128 a pair of f64.
enum class DType : unsigned char { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128 };

/// Calls X(T) for the C++ type of every DType, in their order: for explicit instantiations.
#define PLAIT_FOR_EACH_DTYPE(X) \
  X(std::int8_t)                \
  X(std::int16_t)               \
  X(std::int32_t)               \
  X(std::int64_t)               \
  X(std::uint8_t)               \
  X(std::uint16_t) X(std::uint32_t) X(std::uint64_t) X(float) X(double) X(std::complex<float>) X(std::complex<double>)

/// The C++ type of a DType: files hold what kernels compute with.
template <class T>
concept FileElement = simd::Scalar<T>;

/// "f64" and so on.
[[nodiscard]] std::string_view name(DType dtype);

/// "i8, i16, ... and c128", for error texts.
[[nodiscard]] std::string_view all_dtype_names();

/// The DType of a name: plait's ("f64") or NumPy's ("float64").
///
/// \throws ArgumentError  naming the text and all that it could be
[[nodiscard]] DType parse_dtype(std::string_view text);

template <FileElement T>
[[nodiscard]] constexpr DType dtype_of() noexcept {
  if constexpr (std::same_as<T, std::int8_t>) return DType::i8;
  if constexpr (std::same_as<T, std::int16_t>) return DType::i16;
  if constexpr (std::same_as<T, std::int32_t>) return DType::i32;
  if constexpr (std::same_as<T, std::int64_t>) return DType::i64;
  if constexpr (std::same_as<T, std::uint8_t>) return DType::u8;
  if constexpr (std::same_as<T, std::uint16_t>) return DType::u16;
  if constexpr (std::same_as<T, std::uint32_t>) return DType::u32;
  if constexpr (std::same_as<T, std::uint64_t>) return DType::u64;
  if constexpr (std::same_as<T, float>) return DType::f32;
  if constexpr (std::same_as<T, double>) return DType::f64;
  if constexpr (std::same_as<T, std::complex<float>>) return DType::c64;
  if constexpr (std::same_as<T, std::complex<double>>) return DType::c128;
}

/// Calls `f.template operator()<T>()` with the C++ type of a DType and returns what it returns.
template <class F>
decltype(auto) with_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::i8: return f.template operator()<std::int8_t>();
    case DType::i16: return f.template operator()<std::int16_t>();
    case DType::i32: return f.template operator()<std::int32_t>();
    case DType::i64: return f.template operator()<std::int64_t>();
    case DType::u8: return f.template operator()<std::uint8_t>();
    case DType::u16: return f.template operator()<std::uint16_t>();
    case DType::u32: return f.template operator()<std::uint32_t>();
    case DType::u64: return f.template operator()<std::uint64_t>();
    case DType::f32: return f.template operator()<float>();
    case DType::f64: return f.template operator()<double>();
    case DType::c64: return f.template operator()<std::complex<float>>();
    case DType::c128: return f.template operator()<std::complex<double>>();
  }
  contract_violated("dtype", "a DType is one of its enumerators", __FILE__, __LINE__);
}

/// The size of one element.
[[nodiscard]] Index bytes(DType dtype);

[[nodiscard]] constexpr bool is_complex(DType dtype) noexcept { return dtype == DType::c64 || dtype == DType::c128; }

/// The size of what has a byte order: an element, or one of the two parts of a complex one.
[[nodiscard]] inline Index component_bytes(DType dtype) { return is_complex(dtype) ? bytes(dtype) / 2 : bytes(dtype); }

}  // namespace plait::io
