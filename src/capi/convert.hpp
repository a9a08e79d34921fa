#pragma once

#include "plait/base/matrix_view.hpp"
#include "plait/io/dtype.hpp"
#include "plait/layout/owners.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/simd/reduce/element.hpp"

#include "capi/plait.h"

/// The enumerations of C as those of C++. All throw `ArgumentError` for a number that means nothing.
namespace plait::capi {

[[nodiscard]] StorageOrder storage_order(plait_order order, const char* argument);
[[nodiscard]] layout::GridOrder grid_order(plait_grid_order order);
[[nodiscard]] redistribute::Op op(plait_op op);

/// The types of matrices; `io::with_dtype` gives their C++ types.
[[nodiscard]] io::DType dtype(plait_type type);
/// All types.
[[nodiscard]] simd::Element element(plait_type type);

/// \throws ArgumentError  also for a layout that is none
[[nodiscard]] redistribute::MatrixPair matrix_pair(const plait_pair& pair);

}  // namespace plait::capi
