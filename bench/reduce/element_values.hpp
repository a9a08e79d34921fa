#pragma once

#include <cstddef>

#include "plait/base/index.hpp"
#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::bench {

enum class Operand : unsigned char { in, inout };

/// Writes `count` elements of small values, padding zeroed. However often the operation is done with the same `in`,
/// nothing overflows to infinity, is denormal, or is NaN: factors are units. No single result overflows the type.
void write_operand(simd::ReduceOperation operation, simd::Element element, Operand operand, std::byte* memory,
                   Index count);

}  // namespace plait::bench
