#pragma once

#include <complex>

namespace plait {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

}  // namespace plait
