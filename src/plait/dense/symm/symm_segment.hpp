#pragma once

#include <algorithm>

#include "plait/base/index.hpp"
#include "plait/dense/symm/symm_grid.hpp"
#include "plait/dense/symm/symm_options.hpp"
#include "plait/mpi/message.hpp"

namespace plait::dense {

/// Elements in one message of plait's own; at least one. Unless told: chains stall above what MPI sends without asking,
/// so not more than that, but for blocks of so many bytes that there would be too many messages to plan.
[[nodiscard]] inline Index symm_segment_elements(const SymmGrid& mesh, const SymmOptions& options,
                                                 Index element_bytes) noexcept {
  constexpr Index usual = std::min<Index>(Index{32} << 10, mpi::network_message), longest = Index{1} << 20, most = 8192;
  const Index of_block = std::min(longest, mesh.most_elements() / most * element_bytes);
  return std::max<Index>(1, options.segment_bytes.value_or(std::max(usual, of_block)) / element_bytes);
}

}  // namespace plait::dense
