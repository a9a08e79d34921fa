#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plait/redistribute/options.hpp"

#include "bench/harness/measure.hpp"
#include "bench/harness/record.hpp"
#include "bench/redistribute/moved_matrix.hpp"
#include "bench/redistribute/transfer.hpp"

namespace plait::bench {

/// What `./dev bench redistribute` measures in one case: what is moved, and how it differs from the ordinary.
struct RedistributeCase {
  Transfer transfer;
  Form form = {};
  redistribute::WithinNode within_node = redistribute::WithinNode::shared_memory;
  std::optional<int> threads = {};  // of each rank; else as many as the user lets it have
  Goal gate = {};
  Goal aim = {};
  Repetitions repetitions = {};

  /// Such as `gemr2d f64 8000x8000 2x1>1x2 ranks=2 ld=8192`.
  [[nodiscard]] std::string name(int ranks) const;
};

/// The cases for 1, 2 or 4 ranks. Not every combination: plain moves between 32 x 32 and 128 x 128 blocks over the
/// extents, then whatever may be slower for a reason of its own, once each. A whole run takes some six minutes, and a
/// quick one, with small matrices, a second.
///
/// \throws ArgumentError  for any other number of ranks
[[nodiscard]] std::vector<RedistributeCase> redistribute_cases(int ranks, bool quick);

}  // namespace plait::bench
