#pragma once

#include "plait/base/index.hpp"

namespace plait::bench {

/// inout[i] = in[i] + inout[i] for bfloat16, one by one: as a float, rounded to nearest, ties to even. Compiled so that
/// it stays a scalar loop.
void scalar_bfloat16_sum(Index n, const void* in, void* inout);

}  // namespace plait::bench
