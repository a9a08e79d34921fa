#pragma once

#include <mpi.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "plait/base/index.hpp"

namespace plait::mpi {

/// How elements of one C++ type travel: `per_element` items of an MPI type each.
struct ElementType {
  MPI_Datatype type;
  Index per_element;
};

/// True for the types that MPI can also combine (sum, maximum …), not only move.
template <class T>
inline constexpr bool is_arithmetic = (std::integral<T> || std::floating_point<T> ||
                                       std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>);

/// The MPI type of T: integers of all widths, floating point, both complex types; any other trivially copyable type
/// travels as its bytes, which is right between equal machines.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] ElementType element_type() noexcept {
  if constexpr (std::same_as<T, float>) return {MPI_FLOAT, 1};
  if constexpr (std::same_as<T, double>) return {MPI_DOUBLE, 1};
  if constexpr (std::same_as<T, long double>) return {MPI_LONG_DOUBLE, 1};
  if constexpr (std::same_as<T, std::complex<float>>) return {MPI_C_FLOAT_COMPLEX, 1};
  if constexpr (std::same_as<T, std::complex<double>>) return {MPI_C_DOUBLE_COMPLEX, 1};
  if constexpr (std::same_as<T, bool>) return {MPI_C_BOOL, 1};
  if constexpr (std::signed_integral<T> && !std::same_as<T, bool>) {
    if constexpr (sizeof(T) == 1) return {MPI_INT8_T, 1};
    if constexpr (sizeof(T) == 2) return {MPI_INT16_T, 1};
    if constexpr (sizeof(T) == 4) return {MPI_INT32_T, 1};
    if constexpr (sizeof(T) == 8) return {MPI_INT64_T, 1};
  }
  if constexpr (std::unsigned_integral<T> && !std::same_as<T, bool>) {
    if constexpr (sizeof(T) == 1) return {MPI_UINT8_T, 1};
    if constexpr (sizeof(T) == 2) return {MPI_UINT16_T, 1};
    if constexpr (sizeof(T) == 4) return {MPI_UINT32_T, 1};
    if constexpr (sizeof(T) == 8) return {MPI_UINT64_T, 1};
  }
  return {MPI_BYTE, Index{sizeof(T)}};
}

}  // namespace plait::mpi
