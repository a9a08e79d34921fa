#pragma once

/// What all else stands on: errors, sizes, views of matrices, types of elements.

#include "plait/base/dtype.hpp"
#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/random.hpp"
#include "plait/base/vector.hpp"
