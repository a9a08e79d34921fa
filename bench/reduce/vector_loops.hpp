#pragma once

#include <cstddef>

#include "plait/base/index.hpp"

namespace plait::bench {

/// Loops in the longest vectors that this machine has, which limits are measured with. They are no part of plait: its
/// own kernels are compared with them.

/// The least that a reduction in place has to do: inout[i] ← in[i] xor inout[i], two loads and a store a vector.
///
/// \pre  inout begins on a cache line, and bytes % 64 == 0
void two_loads_and_a_store(Index bytes, const std::byte* in, std::byte* inout);

/// As many vectors as there are in `bytes`, each one loaded from both, combined in 16 ways that don't depend on each
/// other, and stored: what a processor does in a cycle when nothing makes it wait.
///
/// \pre  as above
void busy_vectors(Index bytes, const std::byte* in, std::byte* inout);

/// What sums and products of binary16 by float cannot leave out: both operands converted to float, and as many numbers
/// converted back and stored. Of each two it is the larger number.
///
/// \pre  as above, and no number is negative
void convert_halves(Index bytes, const std::byte* in, std::byte* inout);

}  // namespace plait::bench
