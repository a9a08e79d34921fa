#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/redistribute/operands.hpp"

#include "capi/handle.hpp"
#include "capi/plait.h"

namespace plait::capi {

/// What C gave to an execution as what C++ takes, checked as far as one rank can.
///
/// \throws ArgumentError, ShapeMismatch  naming the pair, if there are several
[[nodiscard]] std::vector<redistribute::Operands> operands_of(const plait_plan& plan, const plait_operands* operands,
                                                              Index count);

}  // namespace plait::capi
