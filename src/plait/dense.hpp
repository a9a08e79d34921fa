#pragma once

/// Products of matrices, C ← alpha·op(A)·op(B) + beta·C, of matrices and vectors, D² and D³.

#include "plait/dense/check.hpp"
#include "plait/dense/matrix_vector.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/dense/symm/square_cube.hpp"
