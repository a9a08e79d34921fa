#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/redistribute/relabel/package_cost.hpp"
#include "plait/redistribute/relabel/sized_pair.hpp"

namespace plait::redistribute {

/// Which rank plays which role of the target layouts: rank rank_of[r] holds what the layout gives rank r.
///
///     const Relabeling relabeling = relabel(pairs, comm.size());
///     Redistribution plan(context, from, to.relabeled(relabeling.rank_of));  // numbered as before
///     Communicator permuted = comm.permuted(relabeling.rank_of);             // in which `to` is true, `from` isn't
struct Relabeling {
  std::vector<int> rank_of;
  Index cost_before = 0;  ///< where every rank plays its own role
  Index cost_after = 0;   ///< never more
};

/// The communication-optimal process relabeling (COPR): the permutation of the target's ranks with which the packages
/// of all pairs together cost least. One permutation for the whole batch. Every rank plays its own role if nothing is
/// cheaper.
///
/// Pure and deterministic: every rank of a job computes the same from the same arguments, without communication. With
/// a cost that knows near and far ranks it takes memory with the pairs of ranks that exchange something, else with all.
///
/// \param ranks  of the communicator: those without a part in the layouts may play a role as well
/// \throws LayoutError    a layout needs more ranks
/// \throws ShapeMismatch, ArgumentError  as `Incoming`, or costs that add up to more than 2^62
///
/// Source: Kabić et al., "COSTA", section 4, Algorithm 1, with the relabeling gain as in equation (5).
[[nodiscard]] Relabeling relabel(std::span<const SizedPair> pairs, int ranks, const PackageCost& cost = VolumeCost());

}  // namespace plait::redistribute
