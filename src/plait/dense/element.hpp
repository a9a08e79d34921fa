#pragma once

#include "plait/base/dtype.hpp"

namespace plait::dense {

/// What matrices are made of that are multiplied.
template <class T>
concept Element = Field<T>;

}  // namespace plait::dense
