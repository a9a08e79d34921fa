#pragma once

/// Poisson's equation on boxes of one to three dimensions, by multigrid and by simpler iterations.

#include "plait/layout/box.hpp"
#include "plait/poisson/solver.hpp"
#include "plait/poisson/two_levels.hpp"
