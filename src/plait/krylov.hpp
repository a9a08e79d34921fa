#pragma once

/// Conjugate gradients on any operator, with one or two reductions an iteration, and the bounds of its spectrum.

#include "plait/krylov/conjugate_gradient.hpp"
#include "plait/krylov/lanczos.hpp"
