#pragma once

/// Which rank owns which element of a matrix, and matrices that are distributed so.

#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/text.hpp"
