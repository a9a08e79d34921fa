#pragma once

#include "plait/base/index.hpp"

namespace plait::simd {

/// Neighbouring elements, rows or columns, from the place `source` of what is read to the place `target` of what is
/// written.
struct ElementRun {
  Index source = 0;
  Index target = 0;
  Index length = 0;
};

}  // namespace plait::simd
