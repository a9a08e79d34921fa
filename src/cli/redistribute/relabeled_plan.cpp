#include "cli/redistribute/relabeled_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "plait/base/stopwatch.hpp"

#include "cli/output/quantities.hpp"

namespace plait::cli {

using nlohmann::ordered_json;

namespace {

constexpr Index most_cost = Index{1} << 62;

// Of long messages, while as many ranks of a node send and receive as were measured.
double rate_of(const model::Link& link) { return link.streams.back().both_ways.points().back().bytes_per_second; }

redistribute::Relabeling relabeling(const redistribute::SizedPair& pair, int ranks, const KnownNodes& nodes) {
  if (!nodes.are_several()) return redistribute::relabel({&pair, 1}, ranks);
  // So that the costs of all bytes can be counted.
  const Index bytes = layout::elements(pair.pair.to.shape()) * pair.element_bytes;
  const Index weight = std::clamp(most_cost / std::max(Index{1}, bytes), Index{1}, nodes.network_weight);
  return redistribute::relabel({&pair, 1}, ranks, redistribute::NodeCost(nodes.node_of, 1, weight));
}

}  // namespace

bool KnownNodes::are_several() const {
  return std::ranges::adjacent_find(node_of, std::ranges::not_equal_to()) != node_of.end();
}

Index network_weight(const model::Machine& machine) {
  constexpr double most = 1000;
  return std::lround(std::clamp(rate_of(machine.node) / rate_of(machine.network), 1.0, most));
}

double RelabeledPlan::removed_percent() const {
  if (before.bytes == 0) return 0;
  return 100 * static_cast<double>(before.bytes - after.bytes) / static_cast<double>(before.bytes);
}

Index RelabeledPlan::roles_changed() const {
  Index changed = 0;
  for (std::size_t role = 0; role < relabeling.rank_of.size(); ++role) {
    changed += relabeling.rank_of[role] == static_cast<int>(role) ? 0 : 1;
  }
  return changed;
}

RelabeledPlan relabeled_plan(const redistribute::SizedPair& pair, int ranks, const KnownNodes& nodes) {
  const Stopwatch watch;
  redistribute::Incoming incoming({&pair, 1});
  RelabeledPlan plan;
  plan.relabeling = relabeling(pair, ranks, nodes);
  plan.before = redistribute::communication_volume(incoming);
  plan.after = redistribute::communication_volume(incoming, plan.relabeling.rank_of);
  if (nodes.are_several()) {
    plan.network_bytes_before = redistribute::bytes_between_nodes(incoming, nodes.node_of);
    plan.network_bytes_after = redistribute::bytes_between_nodes(incoming, nodes.node_of, plan.relabeling.rank_of);
  }
  plan.seconds = watch.seconds();
  return plan;
}

std::string saving_text(const RelabeledPlan& plan) {
  const std::string between_nodes =
      plan.network_bytes_after ? fmt::format("{} between nodes instead of {}, ", bytes_text(*plan.network_bytes_after),
                                             bytes_text(*plan.network_bytes_before))
                               : "";
  return between_nodes +
         fmt::format("{:.2f} % less; {} of {} change roles (found in {})", plan.removed_percent(), plan.roles_changed(),
                     counted(static_cast<Index>(plan.relabeling.rank_of.size()), "rank"), seconds_text(plan.seconds));
}

ordered_json json_of(const redistribute::CommunicationVolume& volume) {
  return {
      {"messages", volume.messages}, {"volume_bytes", volume.bytes}, {"largest_rank_bytes", volume.largest_rank_bytes}};
}

ordered_json json_of(const RelabeledPlan& plan) {
  ordered_json report = json_of(plan.after);
  if (plan.network_bytes_after) {
    report["network_bytes"] = *plan.network_bytes_after;
    report["network_bytes_before"] = *plan.network_bytes_before;
  }
  report["removed_percent"] = plan.removed_percent();
  report["roles_changed"] = plan.roles_changed();
  report["seconds"] = plan.seconds;
  return report;
}

}  // namespace plait::cli
