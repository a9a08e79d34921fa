#pragma once

#include <string_view>

#include "plait/layout/shape.hpp"

namespace plait::cli {

/// "8000x6000"
///
/// \throws ArgumentError  if the text is no shape
/// \throws LayoutError    if the matrix has more elements than can be counted
[[nodiscard]] layout::Shape parse_shape(std::string_view text);

}  // namespace plait::cli
