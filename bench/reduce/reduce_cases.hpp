#pragma once

#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/simd/reduce/element.hpp"
#include "plait/simd/reduce/reduce.hpp"

#include "bench/harness/measure.hpp"
#include "bench/harness/record.hpp"
#include "bench/reduce/reduce_operands.hpp"

namespace plait::bench {

/// One field of the map of operations and types over sizes.
struct ReduceSetting {
  simd::ReduceOperation operation;
  simd::Element element;
  std::string type;  // in the name
  Index bytes;       // of each operand
  Caches caches;

  /// Such as `reduce-local SUM f64 16K warm ranks=1 kernel`.
  [[nodiscard]] std::string name(int ranks, const std::string& delivery) const;
  /// The share of the limit that is promised from 16 KiB on, unless it is long double, which no vector unit has.
  [[nodiscard]] Goal gate() const;
  [[nodiscard]] Goal aim() const;
  /// Whether vector units have no instruction for it, so that computing may take longer than loading and storing.
  [[nodiscard]] bool computes_longer() const;
  /// Whether plait computes it by float, from and to which processors convert it by instructions of their own.
  [[nodiscard]] bool converts_halves() const;
  /// 30 rounds, and fewer of what takes long.
  [[nodiscard]] Repetitions repetitions() const;
};

/// Of operands, over the map; for a quick run one that is small.
[[nodiscard]] Index largest_reduced_bytes(bool quick);

/// All sizes and both states of the caches, for one operation on one type: cold only where there are caches that could
/// hold the operands. One size for a quick run.
[[nodiscard]] std::vector<ReduceSetting> reduce_settings(simd::ReduceOperation operation, simd::Element element,
                                                         const std::string& type, bool quick);

/// Short lengths that are no whole number of vectors, as those of programs mostly are.
[[nodiscard]] std::vector<ReduceSetting> uneven_reduce_settings(simd::ReduceOperation operation, simd::Element element,
                                                                const std::string& type);

/// The operations that reduce, which leaves out REPLACE and NO_OP.
[[nodiscard]] std::vector<simd::ReduceOperation> reducing_operations();

}  // namespace plait::bench
