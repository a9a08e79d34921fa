#pragma once

#include <nlohmann/json.hpp>

#include "plait/base/index.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/incoming.hpp"
#include "plait/redistribute/relabel.hpp"

namespace plait::cli {

/// What relabeling changes about one redistribution.
struct RelabeledPlan {
  redistribute::AssignmentMethod method = redistribute::AssignmentMethod::exact;
  redistribute::Relabeling relabeling;
  redistribute::CommunicationVolume before;
  redistribute::CommunicationVolume after;
  double seconds = 0;  // to find it

  [[nodiscard]] double removed_percent() const;
  [[nodiscard]] Index roles_changed() const;
};

/// Pure: the same on every rank, but for the seconds.
[[nodiscard]] RelabeledPlan relabeled_plan(const redistribute::SizedPair& pair, int ranks,
                                           redistribute::AssignmentMethod method);

/// "24.24 % less; 96 of 100 ranks change their roles (exact, found in 166 us)"
[[nodiscard]] std::string saving_text(const RelabeledPlan& plan);

/// messages, volume_bytes, largest_rank_bytes
[[nodiscard]] nlohmann::ordered_json json_of(const redistribute::CommunicationVolume& volume);

/// The same after relabeling, and removed_percent, method, roles_changed, seconds.
[[nodiscard]] nlohmann::ordered_json json_of(const RelabeledPlan& plan);

}  // namespace plait::cli
