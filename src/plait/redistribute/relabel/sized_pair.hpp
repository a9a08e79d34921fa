#pragma once

#include "plait/base/index.hpp"
#include "plait/redistribute/matrix_pair.hpp"

namespace plait::redistribute {

/// A pair of matrices for questions about what it costs to move: layouts and the size of an element.
struct SizedPair {
  MatrixPair pair;
  Index element_bytes = 8;
  /// Whether elements are transformed on their way: by default if op transposes or conjugates.
  bool transforms = pair.op != Op::identity;
};

}  // namespace plait::redistribute
