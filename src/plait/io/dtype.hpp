#pragma once

#include "plait/base/dtype.hpp"

/// The element types that files and the command know are all that there are.
namespace plait::io {

using plait::all_dtype_names;
using plait::bytes;
using plait::component_bytes;
using plait::DType;
using plait::dtype_of;
using plait::name;
using plait::parse_dtype;
using plait::with_dtype;

template <class T>
concept FileElement = Number<T>;

[[nodiscard]] constexpr bool is_complex(DType dtype) noexcept { return is_complex_dtype(dtype); }

}  // namespace plait::io
