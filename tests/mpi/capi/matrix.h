#pragma once

#include <complex.h>

#include "mpi/capi/check.h"

/// A rank's tiles of a matrix of double or complex double, with gaps between their columns (rows), in any order.
typedef struct Matrix {
  plait_layout* layout;
  plait_type type;
  plait_index count;
  plait_tile_extent* extents;
  plait_source_tile* sources;
  plait_target_tile* targets;
} Matrix;

/// What an element of the matrix is.
typedef double complex (*Element)(plait_index row, plait_index column);

/// Below `end`, the next of numbers that are the same on all ranks.
int next_below(int end);

/// The next of layouts of all kinds, the same on all ranks.
plait_layout* next_layout(plait_index rows, plait_index columns);

/// In this layout, which belongs to it from now on; elements and gaps hold nonsense.
Matrix matrix_in(plait_layout* layout, plait_type type);
void free_matrix(Matrix* matrix);

void fill_matrix(const Matrix* matrix, Element element);

/// How many elements that this rank holds are further from what they should be than that, or gaps that were written to.
int wrong_elements(const Matrix* matrix, Element expected, double tolerance);
