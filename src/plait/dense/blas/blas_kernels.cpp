#include "plait/dense/blas/blas_kernels.hpp"

#include <cstdlib>

#include "plait/simd/isa.hpp"

extern "C" __attribute__((weak)) const char* openblas_get_corename();  // null in other libraries

namespace plait::dense {

std::string blas_kernels() { return openblas_get_corename == nullptr ? "" : openblas_get_corename(); }

std::optional<std::string> better_blas_kernels() {
  constexpr const char* of_unknown_models = "Prescott";
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr || blas_kernels() != of_unknown_models) return std::nullopt;
  if (simd::is_supported(simd::Isa::avx512)) return "SkylakeX";
  if (simd::is_supported(simd::Isa::avx2)) return "Haswell";
  return std::nullopt;
}

}  // namespace plait::dense
