#pragma once

#include <complex>
#include <cstddef>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/loaded_library.hpp"
#include "plait/layout/distributed_matrix.hpp"

namespace plait::purify {

/// Of a string that is one letter.
inline constexpr std::size_t length = 1;

/// Calls a routine, whose arguments are all pointers, but for the lengths of strings, which come last.
template <class... Arguments>
void call(void (*routine)(), Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(routine)(arguments...);
}

/// The letter that stands for the type in the names of routines.
template <class T>
constexpr char letter = 's';
template <>
inline constexpr char letter<double> = 'd';
template <>
inline constexpr char letter<std::complex<float>> = 'c';
template <>
inline constexpr char letter<std::complex<double>> = 'z';

template <class T>
[[nodiscard]] int leading_dimension(const layout::DistributedMatrix<T>& matrix) {
  return matrix.const_tiles().empty() ? 1 : static_cast<int>(matrix.const_tiles()[0].leading_dimension());
}

/// What an overlap is told that has no Cholesky factor.
[[noreturn]] inline void throw_not_positive_definite(Index rows) {
  throw ArgumentError(
      fmt::format("overlap: is not positive definite, expected a matrix that is: its first {} rows "
                  "and columns have no Cholesky factor",
                  rows));
}

}  // namespace plait::purify
