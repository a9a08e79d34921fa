#pragma once

#include "plait/model/machine.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/relabel/incoming.hpp"
#include "plait/redistribute/relabel/relabel.hpp"

#include "cli/host/report.hpp"

namespace plait::cli {

/// What relabeling changes about one redistribution.
struct RelabeledPlan {
  redistribute::Relabeling relabeling;
  redistribute::CommunicationVolume before;
  redistribute::CommunicationVolume after;
  std::optional<Index> network_bytes_before;  // from node to node, where nodes are known and there are several
  std::optional<Index> network_bytes_after;
  double seconds = 0;  // to find it

  [[nodiscard]] double removed_percent() const;
  [[nodiscard]] Index roles_changed() const;
};

/// Where the ranks are, and how much more a byte costs that goes from node to node than one that stays in its node.
struct KnownNodes {
  std::vector<int> node_of;  // of each rank; empty if that is not known
  Index network_weight = 1;

  [[nodiscard]] bool are_several() const;
};

/// That weight on a machine: by the rates of its links, 1 or more.
[[nodiscard]] Index network_weight(const model::Machine& machine);

/// What least has to be moved between ranks, or, with several nodes, at the least cost. Pure: the same on every rank,
/// but for the seconds.
[[nodiscard]] RelabeledPlan relabeled_plan(const redistribute::SizedPair& pair, int ranks, const KnownNodes& nodes);

/// Facts about a volume: messages, volume_bytes, largest_rank_bytes, each with the prefix.
void report_volume(Report& report, const std::string& prefix, const redistribute::CommunicationVolume& volume);

/// Facts about relabeling. Returns "24.24 % less; 96 of 100 ranks change roles (found in 166 us)", and with several
/// nodes before that "1.20 MB between nodes instead of 2.40 MB, ".
[[nodiscard]] std::string report_relabeled(Report& report, const RelabeledPlan& plan);

}  // namespace plait::cli
