#pragma once

/// Linear models and networks of samples, the rows of a matrix, with the same bits on any number of ranks.

#include "plait/learn/linear_model.hpp"
#include "plait/learn/network/training.hpp"
#include "plait/learn/objective.hpp"
#include "plait/learn/pieces.hpp"
#include "plait/learn/samples.hpp"
#include "plait/learn/solver.hpp"
