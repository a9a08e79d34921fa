#pragma once

#include <vector>

#include "plait/base/counters.hpp"
#include "plait/collective/exchanged.hpp"
#include "plait/dense/symm/symm_grid.hpp"
#include "plait/dense/symm/symm_options.hpp"

namespace plait::dense {

/// What one rank sends to another one.
struct SymmTransfer {
  int from, to;
  Traffic traffic;
};

/// All that is sent for D² (and D³), worked out from the algorithm alone: exactly what plait's own back end sends.
/// Where the MPI library's collectives are asked for, what they would send as chains: each rank but a root gets each
/// block once, in one message.
[[nodiscard]] std::vector<SymmTransfer> symm_transfers_of_square(const SymmGrid& mesh, const SymmOptions& options,
                                                                 Index element_bytes);
[[nodiscard]] std::vector<SymmTransfer> symm_transfers_of_square_cube(const SymmGrid& mesh, const SymmOptions& options,
                                                                      Index element_bytes);

/// Of one rank.
[[nodiscard]] collective::Exchanged traffic_of(int rank, const std::vector<SymmTransfer>& transfers);

}  // namespace plait::dense
