#pragma once

#include <complex>
#include <concepts>

namespace plait::dense {

/// What matrices are made of that are multiplied.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
                  std::same_as<T, std::complex<double>>;

}  // namespace plait::dense
