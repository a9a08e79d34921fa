#pragma once

/// Conjugate gradients on any operator, with one or two reductions an iteration.

#include "plait/krylov/conjugate_gradient.hpp"
