#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plait/simd/reduce/reduce.hpp"

namespace plait::simd::test {

// Kernels against the reference, without a test framework, so that they can be checked where there is none.

/// Operands for reductions of these elements: any bits, and often those that are special: zeros of both signs,
/// infinities, NaN, the least and the largest, neighbours of those; values that are equal in two operands, too.
[[nodiscard]] std::vector<std::byte> operands(Element element, Index n, std::uint64_t seed);

/// All lengths up to 300, or about a third of them.
enum class Lengths : unsigned char { all, some };

/// Compares the kernels with the reference, bit by bit and with what lies around their results, at places that change
/// with the length, and with results in the place of operands.
///
/// Returns what is wrong, or nothing.
[[nodiscard]] std::string check_short_reductions(ReduceOperation operation, Element element, Isa isa, Lengths lengths);

/// The same once, for a result that is large enough to be streamed.
[[nodiscard]] std::string check_long_reduction(ReduceOperation operation, Element element, Isa isa);

/// The same of sums and products of all 65,536 numbers of a format, each with 0, with itself and with another one.
[[nodiscard]] std::string check_all_16_bit_floats(Element element, Isa isa);

}  // namespace plait::simd::test
