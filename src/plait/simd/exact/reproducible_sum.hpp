#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/simd/exact/exact_sum.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/element.hpp"

namespace plait::simd {

/// out[i] = operands[0][i] + operands[1][i] + ...,  0 <= i < n:  the exact sum, rounded once to nearest, ties to even.
///
/// So each result depends on the addends of its element alone: not on their order, the instruction set, the place in
/// the array, nor on how the sum is computed, and its error is at most half a unit in the last place. It is infinite
/// where the exact sum is beyond the type's range, whatever sums on the way would be. Special values are as
/// `ExactSum::rounded` has them; a complex number is its two parts. The caller's rounding mode, and whether it
/// has subnormal numbers flushed to zero, do not matter.
///
/// One or two operands are added at the speed of memory. Of more, the sums and the errors of the sums are added up in
/// vectors, which is exact unless an element's addends lie far apart (by two significands or so); then the errors of
/// the errors, twice; and where that is not sure to be rounded right, or overflows on the way, `ExactSum` does it.
///
/// `out` may be one of the operands; otherwise it overlaps none. Any alignment will do.
///
/// \pre  n >= 0 and there is an operand
///
/// Sources: Ogita, Rump & Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005); the rounding of three
/// terms: Boldo & Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Comput. 57 (2008).
using ReproducibleSumKernel = void(Index n, std::span<const std::byte* const> operands, std::byte* out);

/// The kernel for float32, float64, complex64 and complex128; null for any other element.
///
/// \pre  is_supported(isa)
[[nodiscard]] ReproducibleSumKernel* reproducible_sum_kernel(Element element, Isa isa = selected_isa());

/// The real numbers that can be summed up reproducibly.
template <class T>
concept SummableReal = std::same_as<T, float> || std::same_as<T, double>;

/// Adds all addends to `sum`, in vectors where their exponents are not too far apart, one by one otherwise.
///
/// \pre  is_supported(isa)
template <SummableReal T>
void add_to(ExactSum& sum, std::span<const T> addends, Isa isa = selected_isa());

}  // namespace plait::simd
