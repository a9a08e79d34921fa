#pragma once

/// Matrices and arrays in files, and the file that describes a machine.

#include "plait/io/file_kind.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/machine_file.hpp"
#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/slab.hpp"
#include "plait/io/text/text_rows.hpp"
#include "plait/io/vtk.hpp"
