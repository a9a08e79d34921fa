#pragma once

/// The contract of everything iterative: state, limits, stagnation, and the reason of the end; and what steps tell of
/// the curvature.

#include "plait/iterate/course.hpp"
#include "plait/iterate/curvature_pairs.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/iterate/stagnation.hpp"
