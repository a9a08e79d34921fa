#pragma once

#include <span>
#include <vector>

namespace plait::mpi {

/// Which ranks of a node are active where `active` of them are to be, and for whom each works: the active rank of every
/// rank, an active one's being itself. With fewer ranks than `active` all of them are.
///
/// `domains` says of each rank of the node where its memory is, such as its NUMA domain. Ranks are taken domain by
/// domain and cut into `active` runs of equal length (but for one rank), the first of each run being active: so active
/// ranks are spread over the domains as all are, and work for ranks of their own one as far as possible.
///
/// \pre  active is at least 1
[[nodiscard]] std::vector<int> serving_ranks(std::span<const int> domains, int active);

}  // namespace plait::mpi
