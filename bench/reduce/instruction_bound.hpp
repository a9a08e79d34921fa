#pragma once

#include <map>
#include <optional>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

#include "bench/harness/measure.hpp"

namespace plait::bench {

/// How fast the instructions of a kernel can be executed where nothing is waited for: a loop of vector instructions
/// that don't depend on each other, run until it has executed as many as the kernel. Both are counted one by one. It
/// bounds kernels that compute a lot; what they compute with may be slower than the loop's additions still.
class InstructionBound {
 public:
  /// For `elements` of the kernel for this operation on such elements. Counted by the first call for it, some
  /// milliseconds; nothing where instructions can't be counted.
  [[nodiscard]] std::optional<Contender> contender(simd::ReduceOperation operation, simd::Element element,
                                                   Index elements);

 private:
  std::map<std::pair<simd::ReduceOperation, simd::Element>, std::optional<double>> per_element_;
  std::optional<std::optional<double>> per_byte_;  // of the loop
};

/// What bounds sums and products of `elements` of float16 instead, as conversions take the processor several times as
/// long as other instructions do: a loop that converts as often as they must, and computes next to nothing.
[[nodiscard]] Contender conversions(Index elements);

}  // namespace plait::bench
