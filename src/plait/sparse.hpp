#pragma once

/// Sparse matrices and graphs over all ranks: products with vectors, symmetry, components, other numbers of rows.

#include "plait/sparse/entries.hpp"
#include "plait/sparse/matrix.hpp"
